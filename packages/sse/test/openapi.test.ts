import { describedWell } from '@influencer-stats/runtime/testing/described'
import { settingsFit } from '@influencer-stats/runtime/testing/settings-fit'
import { startSse } from './support/sse.ts'
import { bearer, MERCURE, signAll } from './support/tokens.ts'
import { sse as definition } from '../src/service.ts'

settingsFit(definition)

describedWell(
  () => startSse({ ...MERCURE, mercureAnonymous: 'on' }),
  async (operationId) => (operationId === 'publish' ? bearer(await signAll()) : {}),
)
