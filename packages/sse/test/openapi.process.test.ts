import { testApiDocument } from '@influencer-stats/runtime/testing/api-document-tests'
import { testSettingDefaults } from '@influencer-stats/runtime/testing/setting-defaults'
import { startSse } from './support/test-sse.ts'
import { toBearerHeader, MERCURE, signAll } from './support/sign-tokens.ts'
import { sse as definition } from '../src/service.ts'

testSettingDefaults(definition)

testApiDocument(
  () => startSse({ ...MERCURE, mercureAnonymous: 'on' }),
  async (operationId) => (operationId === 'publish' ? toBearerHeader(await signAll()) : {}),
)
