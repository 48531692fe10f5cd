import { describedWell } from '@influencer-stats/runtime/testing/described'
import { settingsFit } from '@influencer-stats/runtime/testing/settings-fit'
import { startKv } from './support/kv.ts'
import { kv as definition } from '../src/service.ts'

settingsFit(definition)

describedWell(() => startKv())
