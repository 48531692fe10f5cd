import { embed } from '@influencer-stats/runtime/embed'
import { requestFields } from '@influencer-stats/runtime/testing/request-fields'
import { youtube } from '../src/service.ts'

requestFields((settings) => embed(youtube, settings))
