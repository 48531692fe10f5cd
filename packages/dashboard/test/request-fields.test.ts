import { embed } from '@influencer-stats/runtime/embed'
import { testRequestFields } from '@influencer-stats/runtime/testing/request-fields'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { dashboard } from '../src/service.ts'
import { DEAD } from './support/serve.ts'

testRequestFields((settings) =>
  embed(dashboard, { data: createTemporaryFolder(), statsUri: DEAD, sseUri: DEAD, demo: 'off', ...settings }),
)
