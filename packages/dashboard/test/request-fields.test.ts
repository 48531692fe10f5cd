import { embed } from '@influencer-stats/runtime/embed'
import { requestFields } from '@influencer-stats/runtime/testing/request-fields'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { dashboard } from '../src/service.ts'

// No service listens there.
const NOWHERE = 'http://127.0.0.1:9'

requestFields((settings) =>
  embed(dashboard, { data: temporaryFolder(), statsUri: NOWHERE, sseUri: NOWHERE, demo: 'off', ...settings }),
)
