import { SERVERS } from '@influencer-stats/runtime/settings'
import { testServer } from './server.conformance.ts'

for (const name of SERVERS) testServer(name)
