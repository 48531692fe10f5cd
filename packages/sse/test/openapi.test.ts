import { testApiDocument } from '@influencer-stats/runtime/testing/api-document-tests'
import { testSettingDefaults } from '@influencer-stats/runtime/testing/setting-defaults'
import { startSse } from './support/sse.ts'
import { bearer, MERCURE, signAll } from './support/tokens.ts'
import { sse as definition } from '../src/service.ts'

testSettingDefaults(definition)

testApiDocument(
  () => startSse({ ...MERCURE, mercureAnonymous: 'on' }),
  async (operationId) => (operationId === 'publish' ? bearer(await signAll()) : {}),
)
