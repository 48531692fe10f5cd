import { embed } from '@influencer-stats/runtime/embed'
import { emptyRequests } from '@influencer-stats/runtime/testing/empty-requests'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { kv } from '../src/service.ts'

emptyRequests((settings) => embed(kv, { data: temporaryFolder(), ...settings }))
