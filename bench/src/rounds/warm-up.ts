/**
 * Number of requests after which V8 has compiled the code of a server. A read by `v4` of stats cost 176 us at first, and
 * 41 us after 22,000 requests. The cost by `v8` did not change after 11,000.
 */
export const WARM_UP_REQUESTS = 40_000

/** Maximum duration of a warm-up, as a multiple of the usual one. */
export const MAX_WARM_UPS = 3

/** Duration of a load of a warm-up (s). */
const LOAD_S = 1

/**
 * Repeats a load until the server has sent `WARM_UP_REQUESTS` replies, which takes longer on a slow machine.
 * @param load sends requests for some seconds, and returns the number of replies
 * @param usual usual duration of a warm-up (s)
 */
export async function warmUpTarget(
  load: (seconds: number) => Promise<{ readonly requests: number }>,
  usual: number,
): Promise<void> {
  const seconds = Math.min(usual, LOAD_S)
  let requests = 0
  for (let left = MAX_WARM_UPS * usual; left > 0 && requests < WARM_UP_REQUESTS; left -= seconds)
    requests += (await load(seconds)).requests
}
