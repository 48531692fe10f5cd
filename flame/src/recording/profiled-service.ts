import { buildConfig } from '@influencer-stats/runtime/embed'
import { startService } from '@influencer-stats/runtime/service-host'
import { createLogger } from '@influencer-stats/runtime/logger'
import { getSecrets } from '@influencer-stats/runtime/secrets'
import { services } from '../../../services.ts'
import { handleProfileRequests, sendReport } from './profile-control.ts'

// A separate process that runs one service until its stdin ends. Its arguments are the name of the service, and its
// settings as JSON.

const [name, settings] = process.argv.slice(2) as [string, string]
const definition = await services[name]!()
const config = buildConfig(definition, { port: 0, ...JSON.parse(settings) })
const log = createLogger(config.logLevel, { service: name }, getSecrets(definition, config))
const table = new URL('../../../services.ts', import.meta.url).href
const running = await startService({ services: table, definition, config, log })
handleProfileRequests(() => running.stop())
sendReport({ kind: 'ready', url: running.url })
