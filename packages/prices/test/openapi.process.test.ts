import { testApiDocument } from '@influencer-stats/runtime/testing/api-document-tests'
import { testSettingDefaults } from '@influencer-stats/runtime/testing/setting-defaults'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { generateSamplePrices } from '../src/sample/sample-catalog.ts'
import { startPrices } from './support/prices.ts'
import { prices as definition } from '../src/service.ts'

testSettingDefaults(definition)

testApiDocument(async () => {
  const prices = await startPrices({ data: createTemporaryFolder() })
  await prices.import([...generateSamplePrices(1)])
  return prices
})
