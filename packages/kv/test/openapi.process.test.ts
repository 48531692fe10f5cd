import { testApiDocument } from '@influencer-stats/runtime/testing/api-document-tests'
import { testSettingDefaults } from '@influencer-stats/runtime/testing/setting-defaults'
import { startKv } from './support/kv.ts'
import { kv as definition } from '../src/service.ts'

testSettingDefaults(definition)

testApiDocument(() => startKv())
