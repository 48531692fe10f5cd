import { embed } from '@influencer-stats/runtime/embed'
import { requestFields } from '@influencer-stats/runtime/testing/request-fields'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { stats } from '../src/service.ts'

// No server listens on this port: calls to YouTube fail at once.
const NOWHERE = 'http://127.0.0.1:9'

requestFields((settings) =>
  embed(stats, { data: temporaryFolder(), youtubeUri: NOWHERE, logger: 'silent', ...settings }),
)
