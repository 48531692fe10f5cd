import { globSync } from 'node:fs'

// libfaketime, of the Debian package: it gives a process another clock than the machine's.
const [LIBRARY] = globSync('/usr/lib/*/faketime/libfaketime.so.1')

export const hasFaketime = LIBRARY !== undefined

/** What has a process's clock so many seconds ahead, or behind; its own count of time goes on as ever. */
export const clockAhead = (seconds: number): Readonly<Record<string, string>> => ({
  LD_PRELOAD: LIBRARY!,
  FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
})
