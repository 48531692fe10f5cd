import { backUp } from '@influencer-stats/runtime/backup'
import { services } from '../services.ts'

process.exitCode = await backUp({ services, argv: process.argv.slice(2), env: process.env })
