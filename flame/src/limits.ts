/** The largest HTML that is committed (bytes). */
export const LARGEST = 2_500_000
