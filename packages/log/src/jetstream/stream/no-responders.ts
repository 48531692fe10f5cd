import { errors } from '@nats-io/transport-node'

/** True if a request had no responder: the stream has no leader, or JetStream is not enabled. */
export function isNoResponders(error: unknown): boolean {
  const { cause } = Object(error) as { cause?: unknown }
  return [error, cause].some((one) => one instanceof errors.RequestError && one.isNoResponders())
}
