import type { Expectation } from '../load-plan.ts'

/** Returns true if a reply is as expected. It is called for every reply and takes 0.05-0.12 us. */
export type ReplyCheck = (status: number, body: Buffer) => boolean

/** Creates the check of an expectation. */
export function createCheck({ status, body, includes }: Expectation): ReplyCheck {
  const whole = body === undefined ? undefined : Buffer.from(body)
  const part = includes === undefined ? undefined : Buffer.from(includes)
  return (gotStatus, got) =>
    gotStatus === status && (whole === undefined || whole.equals(got)) && (part === undefined || got.includes(part))
}

/** True if the check of an expectation needs the bodies of replies. */
export function needsBodies({ body, includes }: Expectation): boolean {
  return body !== undefined || includes !== undefined
}
