import { embed } from '@influencer-stats/runtime/embed'
import { testEmptyRequests } from '@influencer-stats/runtime/testing/empty-requests'
import { sse } from '../src/service.ts'

testEmptyRequests((settings) => embed(sse, settings))
