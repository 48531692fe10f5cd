import { embed } from '@influencer-stats/runtime/embed'
import { emptyRequests } from '@influencer-stats/runtime/testing/empty-requests'
import { youtube } from '../src/service.ts'

emptyRequests((settings) => embed(youtube, settings))
