import { embed } from '@influencer-stats/runtime/embed'
import { testEmptyRequests } from '@influencer-stats/runtime/testing/empty-requests'
import { youtube } from '../src/service.ts'

testEmptyRequests((settings) => embed(youtube, settings))
