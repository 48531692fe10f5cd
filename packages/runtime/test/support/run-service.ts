import { embed } from '../../src/supervisor/embed.ts'

// Runs a service in a separate process: prints its URL, and stops on SIGTERM.
const services = new URL('../../../../services.ts', import.meta.url).href
const [, , name, settings] = process.argv
const table = await import(services)
const running = await embed(await table.services[name!](), JSON.parse(settings!), services)
process.stdout.write(`${running.url}\n`)
process.once('SIGTERM', () => void running.stop())
