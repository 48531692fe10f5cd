export const SEARCH = '/v1/search/:index/prices'
export const BULK = '/v5/search/:index/bulk/prices'
