import { runSupervisor } from '@influencer-stats/runtime/supervisor'
import { services } from '../services.ts'

process.exitCode = await runSupervisor({
  services,
  servicesUrl: new URL('../services.ts', import.meta.url).href,
  argv: process.argv.slice(2),
  env: process.env,
})
