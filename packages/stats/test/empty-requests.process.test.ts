import { embed } from '@influencer-stats/runtime/embed'
import { testEmptyRequests } from '@influencer-stats/runtime/testing/empty-requests'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { stats } from '../src/service.ts'

// No server listens on this port: calls to YouTube fail at once.
const UNUSED_URL = 'http://127.0.0.1:9'

testEmptyRequests((settings) =>
  embed(stats, { data: createTemporaryFolder(), youtubeUri: UNUSED_URL, logger: 'silent', ...settings }),
)
