export const term = (value: string) => ({ char: 'term', value })
export const speed = (value: number) => ({ char: 'speed', value })

/** Returns the values of a list of facets with their counts. */
export const toCounts = (list: any) => list?.values.map(({ value, count }: any) => [value, count])
