import { testApiDocument } from '@influencer-stats/runtime/testing/api-document-tests'
import { testSettingDefaults } from '@influencer-stats/runtime/testing/setting-defaults'
import { startSse } from './support/test-sse.ts'
import { toBearerHeader, MERCURE, signAll } from './support/sign-tokens.ts'
import { sse as definition } from '../src/service.ts'

testSettingDefaults(definition)

// The hub accepts only access tokens.
const HUB_OPERATIONS = new Set(['subscribe', 'publish'])

testApiDocument(
  () => startSse({ ...MERCURE, mercureAnonymous: 'on', apiToken: 'change' }),
  async (operationId) => toBearerHeader(HUB_OPERATIONS.has(operationId) ? await signAll() : 'change'),
)
