import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import { randomUUID } from 'node:crypto'
import type { TopicPut } from '../core/event.ts'
import type { SubscriptionMatcher } from '../core/parse-matchers.ts'
import { HUB_PATH } from '../core/patterns/topic-url.ts'

/** Path of the subscriptions API, and prefix of the topics of subscription events. */
export const SUBSCRIPTIONS_PATH = `${HUB_PATH}/subscriptions`

/** An open subscription, as plain data. */
export interface ActiveSubscription extends SubscriptionMatcher {
  readonly subscriber: string
  readonly payload?: unknown
}

export interface ActiveSubscriptionsOptions {
  /** True if documents and topics have the form of the protocol 0.x. */
  readonly isCompatible: boolean
  /** Publishes subscription events. */
  publish(puts: readonly TopicPut[]): Promise<unknown>
}

/** The open subscriptions of a thread to the hub. Publishes an event for each that begins or ends. */
export class ActiveSubscriptions {
  readonly #options: ActiveSubscriptionsOptions
  readonly #bySubscriber = new Map<string, readonly ActiveSubscription[]>()

  constructor(options: ActiveSubscriptionsOptions) {
    this.#options = options
  }

  /** Adds the subscriptions of a stream until its connection closes. @param getPayload returns the payload of a matcher */
  add(
    connection: StreamConnection,
    matchers: readonly SubscriptionMatcher[],
    getPayload: (matcher: string) => unknown,
  ): void {
    const subscriber = `urn:uuid:${randomUUID()}`
    const subscriptions = matchers.map((matcher) => {
      const payload = getPayload(matcher.text)
      return { ...matcher, subscriber, ...(payload !== undefined && { payload }) }
    })
    this.#bySubscriber.set(subscriber, subscriptions)
    this.#publish(subscriptions, true)
    connection.on('close', () => {
      if (this.#bySubscriber.delete(subscriber)) this.#publish(subscriptions, false)
    })
  }

  list(): ActiveSubscription[] {
    return [...this.#bySubscriber.values()].flat()
  }

  #publish(subscriptions: readonly ActiveSubscription[], isActive: boolean): void {
    const { isCompatible, publish } = this.#options
    const puts = subscriptions.map((one): TopicPut => {
      const document = describeSubscription(one, isActive, isCompatible)
      return [
        document.id,
        JSON.stringify(isCompatible ? { '@context': JSON_LD_CONTEXT, ...document } : document),
        { isPrivate: true, ...(!isCompatible && { type: 'mercure' }) },
      ]
    })
    // An event that cannot be published is lost. The API still lists the subscription.
    publish(puts).catch(() => {})
  }
}

export const JSON_LD_CONTEXT = 'https://mercure.rocks/'

/** Returns the document of a subscription, in the form of the draft or of the protocol 0.x. */
export function describeSubscription(
  { type, text, subscriber, payload }: ActiveSubscription,
  isActive: boolean,
  isCompatible: boolean,
) {
  const path = isCompatible ? [text, subscriber] : [type, text, subscriber]
  return {
    id: [SUBSCRIPTIONS_PATH, ...path.map(encodeURIComponent)].join('/'),
    type: isCompatible ? 'Subscription' : 'subscription',
    ...(isCompatible ? { topic: text } : { match_type: type, match: text }),
    subscriber,
    active: isActive,
    ...(payload !== undefined && { payload }),
  }
}
