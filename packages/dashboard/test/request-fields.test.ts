import { embed } from '@influencer-stats/runtime/embed'
import { requestFields } from '@influencer-stats/runtime/testing/request-fields'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { dashboard } from '../src/service.ts'
import { DEAD } from './support/serve.ts'

requestFields((settings) =>
  embed(dashboard, { data: temporaryFolder(), statsUri: DEAD, sseUri: DEAD, demo: 'off', ...settings }),
)
