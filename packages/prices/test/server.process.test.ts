import { SERVERS } from '@influencer-stats/runtime/settings'
import { testPricesServer } from './server.conformance.ts'

for (const name of SERVERS) testPricesServer(name)
