import { testApiDocument } from '@influencer-stats/runtime/testing/api-document-tests'
import { testSettingDefaults } from '@influencer-stats/runtime/testing/setting-defaults'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { startPrices } from './support/prices.ts'
import { prices as definition } from '../src/service.ts'

testSettingDefaults(definition)

// The catalog is empty: the examples need no price except the one that they create.
testApiDocument(() => startPrices({ data: createTemporaryFolder() }))
