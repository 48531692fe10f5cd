import { errors } from '@nats-io/transport-node'

/** Whether a request had nobody to take it: the stream has no leader, or there is no JetStream. */
export function isNoResponders(error: unknown): boolean {
  const { cause } = Object(error) as { cause?: unknown }
  return [error, cause].some((one) => one instanceof errors.RequestError && one.isNoResponders())
}
