import { settingsFit } from '@influencer-stats/runtime/testing/settings-fit'
import { dashboard } from '../src/service.ts'

settingsFit(dashboard)
