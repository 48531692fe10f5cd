import { runRestore } from '@influencer-stats/runtime/backup'
import { services } from '../services.ts'

process.exitCode = await runRestore({ services, argv: process.argv.slice(2), env: process.env })
