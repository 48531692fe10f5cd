import { describedWell } from '@influencer-stats/runtime/testing/described'
import { settingsFit } from '@influencer-stats/runtime/testing/settings-fit'
import { startStandIn } from './support/stand-in.ts'
import { youtube as definition } from '../src/service.ts'

settingsFit(definition)

describedWell(() => startStandIn())
