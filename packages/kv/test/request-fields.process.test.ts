import { embed } from '@influencer-stats/runtime/embed'
import { testRequestFields } from '@influencer-stats/runtime/testing/request-fields'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { kv } from '../src/service.ts'

testRequestFields((settings) => embed(kv, { data: createTemporaryFolder(), ...settings }))
