// Formats of numbers in tables.

export const formatWhole = (value: number): string =>
  Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : '-'
export const formatTenth = (value: number): string => (Number.isFinite(value) ? value.toFixed(1) : '-')
export const formatHundredth = (value: number): string => (Number.isFinite(value) ? value.toFixed(2) : '-')
export const formatPercent = (share: number): string => (Number.isFinite(share) ? `${Math.round(share * 100)} %` : '-')
/** Formats numbers below 100 with one decimal, and others as integers. */
export const formatShort = (value: number): string => (Math.abs(value) < 100 ? formatTenth(value) : formatWhole(value))
/** Converts microseconds to milliseconds. */
export const toMilliseconds = (microseconds: number): number => microseconds / 1000
/** Formats a factor with `digits` decimals, or with two significant digits if it is smaller than these show. */
export const formatFactor = (value: number, digits: number): string =>
  value > 0 && value < 10 ** -digits ? value.toPrecision(2) : value.toFixed(digits)
/** Formats the lowest and the highest value of a factor behind it: ` (0.70 to 0.76)`. */
export const formatBounds = (low: number, high: number, digits: number): string =>
  ` (${formatFactor(low, digits)} to ${formatFactor(high, digits)})`
