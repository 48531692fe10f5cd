import { testSettingDefaults } from '@influencer-stats/runtime/testing/setting-defaults'
import { dashboard } from '../src/service.ts'

testSettingDefaults(dashboard)
