import { configOf } from '@influencer-stats/runtime/embed'
import { startService } from '@influencer-stats/runtime/host'
import { createLog } from '@influencer-stats/runtime/log'
import { secretsOf } from '@influencer-stats/runtime/secrets'
import { services } from '../../services.ts'
import { obey, report } from './control.ts'

// A process of its own: runs one service as a service process does, until its stdin ends.
// Arguments: the service's name, and its settings as JSON.

const [name, settings] = process.argv.slice(2) as [string, string]
const definition = await services[name]!()
const config = configOf(definition, { port: 0, ...JSON.parse(settings) })
const log = createLog(config.logLevel, { service: name }, secretsOf(definition, config))
const table = new URL('../../services.ts', import.meta.url).href
const running = await startService({ services: table, definition, config, log })
obey(() => running.stop())
report({ kind: 'ready', url: running.url })
