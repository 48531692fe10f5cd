import { embed } from '@influencer-stats/runtime/embed'
import { testRequestFields } from '@influencer-stats/runtime/testing/request-fields'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { prices } from '../src/service.ts'

testRequestFields((settings) => embed(prices, { data: createTemporaryFolder(), sample: 'no', ...settings }))
