import { embed } from '@influencer-stats/runtime/embed'
import { requestFields } from '@influencer-stats/runtime/testing/request-fields'
import { sse } from '../src/service.ts'

requestFields((settings) => embed(sse, settings))
