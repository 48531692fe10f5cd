import { testApiDocument } from '@influencer-stats/runtime/testing/api-document-tests'
import { testSettingDefaults } from '@influencer-stats/runtime/testing/setting-defaults'
import { startStandIn } from './support/stand-in.ts'
import { youtube as definition } from '../src/service.ts'

testSettingDefaults(definition)

testApiDocument(() => startStandIn())
