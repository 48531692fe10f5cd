export const SEARCH_PATH = '/v1/search/:index/prices'
export const BULK_PATH = '/v5/search/:index/bulk/prices'
