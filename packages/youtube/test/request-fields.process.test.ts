import { embed } from '@influencer-stats/runtime/embed'
import { testRequestFields } from '@influencer-stats/runtime/testing/request-fields'
import { youtube } from '../src/service.ts'

testRequestFields((settings) => embed(youtube, settings))
