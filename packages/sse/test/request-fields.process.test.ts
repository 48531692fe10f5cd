import { embed } from '@influencer-stats/runtime/embed'
import { testRequestFields } from '@influencer-stats/runtime/testing/request-fields'
import { sse } from '../src/service.ts'

testRequestFields((settings) => embed(sse, settings))
