import { embed } from '@influencer-stats/runtime/embed'
import { sse } from '../../src/service.ts'

// Runs a broadcaster with the settings in its argument. Prints its URL, and stops on SIGTERM.
const services = new URL('../../../../services.ts', import.meta.url).href
const running = await embed(sse, JSON.parse(process.argv[2]!), services)
process.stdout.write(`${running.url}\n`)
process.once('SIGTERM', () => void running.stop())
