import { describedWell } from '@influencer-stats/runtime/testing/described'
import { settingsFit } from '@influencer-stats/runtime/testing/settings-fit'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { samplePrices } from '../src/core/sample.ts'
import { startPrices } from './support/prices.ts'
import { prices as definition } from '../src/service.ts'

settingsFit(definition)

describedWell(async () => {
  const prices = await startPrices({ data: temporaryFolder() })
  await prices.import([...samplePrices(1)])
  return prices
})
