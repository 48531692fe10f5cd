import { embed } from '@influencer-stats/runtime/embed'
import { testRequestFields } from '@influencer-stats/runtime/testing/request-fields'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { dashboard } from '../src/service.ts'
import { UNREACHABLE_URL } from './support/fake-service.ts'

testRequestFields((settings) =>
  embed(dashboard, {
    data: createTemporaryFolder(),
    statsUri: UNREACHABLE_URL,
    sseUri: UNREACHABLE_URL,
    demo: 'off',
    ...settings,
  }),
)
