import { embed } from '@influencer-stats/runtime/embed'
import { requestFields } from '@influencer-stats/runtime/testing/request-fields'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { prices } from '../src/service.ts'

requestFields((settings) => embed(prices, { data: temporaryFolder(), sample: 'no', ...settings }))
