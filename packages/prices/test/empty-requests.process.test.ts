import { embed } from '@influencer-stats/runtime/embed'
import { testEmptyRequests } from '@influencer-stats/runtime/testing/empty-requests'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { prices } from '../src/service.ts'

testEmptyRequests((settings) => embed(prices, { data: createTemporaryFolder(), sample: 'no', ...settings }))
