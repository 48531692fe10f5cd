// Written by `pnpm generate` from clients/openapi/prices.json.

export interface paths {
    "/v1/search/{index}/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find the price that matches
         * @description Operators are `equals` (the default), `not`, `in`, `notIn` and `between` (of integers, dates and texts that are numbers with one unit such as `10 Mbps`). A price without the characteristic matches none of them. If several prices match, the result is the default price with the most characteristics, then with the latest `from`, then the one that was added first. The examples find the price of the example of `putPrice`.
         */
        post: operations["search"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/prices/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a price */
        get: operations["getPrice"];
        /**
         * Create or replace a price
         * @description The reply follows once the price is durable and every thread finds it.
         */
        put: operations["putPrice"];
        post?: never;
        /** Delete a price */
        delete: operations["deletePrice"];
        options?: never;
        head?: never;
        /**
         * Change fields of a price
         * @description A JSON merge patch (RFC 7396): null removes an optional field; `charValues` is replaced as a whole.
         */
        patch: operations["patchPrice"];
        trace?: never;
    };
    "/v5/search/{index}/bulk/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run several searches in one request
         * @description The body has search requests, each with an `id` (text or number): one after the other, with or without line breaks between them, or as one JSON array. The reply has the results in the same order, one per line: `{"price"?,"error":{"message"?,"code"?,"item"?},"id"}`. It repeats each `id` as it was sent, and begins before the request ends. `item` is the number of the search, from 1. A body that cannot be split adds one error at the end, whose message has the position in bytes. The body may be compressed (`Content-Encoding: gzip`), and so may the reply (`Accept-Encoding`).
         */
        post: operations["searchMany"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/node": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** State of this node of a cluster, and of the NATS servers of its log */
        get: operations["getNode"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/facets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the values that can still be chosen, with counts
         * @description Offerings, groups, specs, characteristics and values of the prices that match the conditions. The count of a value ignores the condition on its own list, so the reply includes the alternatives to the chosen value.
         */
        get: operations["getFacets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export prices, one per line
         * @description The prices are in the order of their ids and from one snapshot. `POST /prices/import` accepts the lines. In CSV the first line has the headings, and each characteristic has a column for each kind of its values: `text.NAME`, `integer.NAME`, `boolean.NAME`, `range.NAME` (`10..99`) or `json.NAME`.
         */
        get: operations["exportPrices"];
        put?: never;
        post?: never;
        /**
         * Delete all prices that match conditions
         * @description A dry run, which only counts the prices, unless `dryRun=false` is given. Then all prices that match are deleted in one step, or none.
         */
        delete: operations["deletePrices"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/prices/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import prices, one per line
         * @description The import is atomic: the first invalid line is reported, and then nothing is imported. The first line of a CSV file has the headings of an export in any order; an empty cell is an absent field. The body may be compressed (`Content-Encoding: gzip`).
         */
        post: operations["importPrices"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** Problem */
        Problem: {
            /** @description URN of the kind of problem. */
            type: string;
            /** @description Title of the kind of problem. */
            title: string;
            /** @description HTTP status. */
            status: number;
            /** @description Cause of the problem of this request. */
            detail?: string;
            /** @description Stable code of the kind of problem. */
            code: string;
        };
        /** Status */
        Status: {
            status: string;
        };
        /** WriteReadiness */
        WriteReadiness: {
            ready: boolean;
            /** @description Reason why the service takes no writes. */
            code?: string;
            detail?: string;
            /**
             * Format: date-time
             * @description Start of the outage.
             */
            since?: string;
        };
        /** Readiness */
        Readiness: {
            status: string;
            /** @description Readiness for writes, on a node of a cluster. */
            writes?: components["schemas"]["WriteReadiness"];
        };
        /** Version */
        Version: {
            name: string;
            version: string;
            node: string;
        };
        /** Search */
        Search: {
            offeringId: string;
            groupId: string;
            priceSpecId: string;
            charValues: ({
                char: string;
                /** @enum {string} */
                op?: "equals" | "not";
                value: string | number | boolean | {
                    from?: number;
                    to?: number;
                };
            } | {
                char: string;
                /** @enum {string} */
                op: "in" | "notIn";
                value: (string | number | boolean | {
                    from?: number;
                    to?: number;
                })[];
            } | {
                char: string;
                /** @enum {string} */
                op: "between";
                value: (string | number)[];
            })[];
            /**
             * Format: search-moment
             * @description Moment at which the price must be valid: now, a date such as 2026-01-31 or a time such as 2026-01-31T18:00+01:00. A date is its first minute in UTC.
             */
            at?: string;
            currency?: string;
            /** @description Smallest value, included. */
            minValue?: number | string;
            /** @description Largest value, included. */
            maxValue?: number | string;
            /** @description True: the reply has the number of prices that remain after each condition. */
            explain?: boolean;
            /** @description An id of the client, which a bulk answer repeats. A single search ignores it. */
            id?: string | number;
        };
        /** Price */
        Price: {
            /** @description Any text of up to 128 bytes; a UUID takes the least memory. */
            id: string;
            offeringId: string;
            groupId: string;
            priceSpecId: string;
            charValues: {
                char: string;
                value: string | number | boolean | {
                    from?: number;
                    to?: number;
                } | (string | number | boolean | {
                    from?: number;
                    to?: number;
                })[];
            }[];
            /** @description An exact decimal of up to 34 digits, in a reply as a number with the same digits. */
            value: number;
            /** @description Currency; by default USD. */
            currency: string;
            /** @description True if a search prefers this price when several prices match. */
            default?: boolean;
            from?: string;
            to?: string;
        };
        /** SearchAnswer */
        SearchAnswer: {
            /** @description Any text of up to 128 bytes; a UUID takes the least memory. */
            id?: string;
            spec?: string;
            value?: number;
            currency?: string;
            /** @description Reason why no price was found, with `explain`. */
            error?: {
                code?: string;
                message?: string;
            };
            /** @description Number of prices that remain after each condition, with `explain`. */
            explain?: {
                condition: string;
                left: number;
            }[];
            /** @description First condition that no price matches together with the conditions before it. */
            condition?: string;
            /** @description First prices by id that match all conditions, or all except `condition`. */
            candidates?: components["schemas"]["Price"][];
            /** @description Names of the fields and characteristics in which the candidates differ. */
            differences?: string[];
        };
        /** PriceNotFound */
        PriceNotFound: {
            /** @description URN of the kind of problem. */
            type: string;
            /** @description Title of the kind of problem. */
            title: string;
            /** @description HTTP status. */
            status: number;
            /** @description Cause of the problem of this request. */
            detail?: string;
            /** @description Stable code of the kind of problem. */
            code: string;
            /** @description First condition that no price matches together with the conditions before it. */
            condition?: string;
            /** @description First prices by id that match all conditions, or all except `condition`. */
            candidates?: components["schemas"]["Price"][];
        };
        /** AmbiguousPrices */
        AmbiguousPrices: {
            /** @description URN of the kind of problem. */
            type: string;
            /** @description Title of the kind of problem. */
            title: string;
            /** @description HTTP status. */
            status: number;
            /** @description Cause of the problem of this request. */
            detail?: string;
            /** @description Stable code of the kind of problem. */
            code: string;
            /** @description First prices by id that match all conditions, or all except `condition`. */
            candidates?: components["schemas"]["Price"][];
            /** @description Names of the fields and characteristics in which the candidates differ. */
            differences?: string[];
        };
        /** PriceBody */
        PriceBody: {
            /** @description Any text of up to 128 bytes; a UUID takes the least memory. */
            id?: string;
            offeringId: string;
            groupId: string;
            priceSpecId: string;
            charValues: {
                char: string;
                value: string | number | boolean | {
                    from?: number;
                    to?: number;
                } | (string | number | boolean | {
                    from?: number;
                    to?: number;
                })[];
            }[];
            /** @description An exact decimal of up to 34 digits, in a reply as a number with the same digits. */
            value: number | string;
            /** @description Currency; by default USD. */
            currency?: string;
            /** @description True if a search prefers this price when several prices match. */
            default?: boolean;
            /**
             * Format: moment
             * @description First day or minute at which the price is valid. Days are those of UTC.
             */
            from?: string;
            /**
             * Format: moment
             * @description Last day on which the price is valid, or the first minute at which it is no longer valid.
             */
            to?: string;
        };
        /** PricePatch */
        PricePatch: {
            /** @description Any text of up to 128 bytes; a UUID takes the least memory. */
            id?: string;
            offeringId?: string;
            groupId?: string;
            priceSpecId?: string;
            charValues?: {
                char: string;
                value: string | number | boolean | {
                    from?: number;
                    to?: number;
                } | (string | number | boolean | {
                    from?: number;
                    to?: number;
                })[];
            }[];
            /** @description An exact decimal of up to 34 digits, in a reply as a number with the same digits. */
            value?: number | string;
            /** @description Currency; by default USD. */
            currency?: string | null;
            /** @description True if a search prefers this price when several prices match. */
            default?: boolean | null;
            /**
             * Format: moment
             * @description First day or minute at which the price is valid. Days are those of UTC.
             */
            from?: string | null;
            /**
             * Format: moment
             * @description Last day on which the price is valid, or the first minute at which it is no longer valid.
             */
            to?: string | null;
        };
        /** Node */
        Node: {
            /** @description Sequence of the last entry that this node applied. */
            applied: number;
            /** @description Difference between the last known sequence of the log and `applied`. */
            lag: number;
            /** @description Time since this node last knew that it had applied every entry (s). */
            stalenessSeconds: number;
            /** @description NATS servers of the log. */
            log?: {
                /** @description Name of the stream. */
                stream: string;
                /** @description Servers of the stream, the leader first. Empty before the first report. */
                servers: {
                    name: string;
                    /** @enum {string} */
                    role: "leader" | "replica" | "unknown";
                    /**
                     * @description `offline`: without contact to the leader. `unknown`: there is no recent report.
                     * @enum {string}
                     */
                    state: "current" | "behind" | "offline" | "unknown";
                    /** @description Messages that it does not have yet. Absent if it is unknown. */
                    lag?: number;
                    /**
                     * Format: date-time
                     * @description Last contact with the leader; of the leader, the last report. Absent if it is unknown.
                     */
                    lastContactAt?: string;
                }[];
                /** @description Size of the stream on each server. Absent if it is unknown. */
                bytes?: number;
                /** @description Limit of the storage. Absent if it is unknown. */
                limit?: {
                    /**
                     * @description Configured limit. With `none`, only the disk of a server limits the log.
                     * @enum {string}
                     */
                    scope: "stream" | "account" | "none";
                    /** @description Bytes that count against the limit. */
                    usedBytes?: number;
                    maxBytes?: number;
                };
                /**
                 * Format: date-time
                 * @description Time of the last report that a majority of the servers supports.
                 */
                observedAt?: string;
            };
        };
        /** Facets */
        Facets: {
            /** @description Number of prices that match all conditions. */
            count: number;
            offerings?: {
                values: {
                    value: string | number | boolean | {
                        from?: number;
                        to?: number;
                    };
                    /** @description Number of prices that match if this value replaces the chosen value of its list. */
                    count: number;
                }[];
                /** @description Cursor for `after` of the next page; absent on the last page. */
                next?: string;
            };
            groups?: {
                values: {
                    value: string | number | boolean | {
                        from?: number;
                        to?: number;
                    };
                    /** @description Number of prices that match if this value replaces the chosen value of its list. */
                    count: number;
                }[];
                /** @description Cursor for `after` of the next page; absent on the last page. */
                next?: string;
            };
            specs?: {
                values: {
                    value: string | number | boolean | {
                        from?: number;
                        to?: number;
                    };
                    /** @description Number of prices that match if this value replaces the chosen value of its list. */
                    count: number;
                }[];
                /** @description Cursor for `after` of the next page; absent on the last page. */
                next?: string;
            };
            /** @description Smallest and largest value by currency of the prices that match all conditions, with `range`. */
            range?: {
                currency: string;
                min: number;
                max: number;
                count: number;
            }[];
            /** @description Maximum of 50. */
            characteristics?: {
                values: {
                    char: string;
                    /** @enum {string} */
                    type: "string" | "integer" | "date" | "boolean";
                    /** @description Unit of all values, if all are numbers with this unit such as `10 Mbps`. */
                    unit?: string;
                    /** @description Smallest value that can still be chosen, of integers, dates and numbers with a unit. */
                    min?: string | number | boolean | {
                        from?: number;
                        to?: number;
                    };
                    /** @description Largest value that can still be chosen, of integers, dates and numbers with a unit. */
                    max?: string | number | boolean | {
                        from?: number;
                        to?: number;
                    };
                    values: {
                        value: string | number | boolean | {
                            from?: number;
                            to?: number;
                        };
                        /** @description Number of prices that match if this value replaces the chosen value of its list. */
                        count: number;
                    }[];
                    /** @description Cursor for `after` of the next page; absent on the last page. */
                    next?: string;
                }[];
                /** @description Cursor for `after` of the next page; absent on the last page. */
                next?: string;
            };
        };
        /** RemovedPrices */
        RemovedPrices: {
            /** @description Number of prices that match all conditions. */
            matched: number;
            /** @description Number of deleted prices: 0 in a dry run, otherwise all that match. */
            deleted: number;
        };
        /** Imported */
        Imported: {
            /** @description Number of imported prices; a repeated id counts each time. */
            imported: number;
            /** @description Number of prices in the catalog. */
            prices: number;
        };
        /** CheckReport */
        CheckReport: {
            /** @description Number of valid lines. */
            prices: number;
            /** @description The problems with the lowest lines: at most 100. */
            problems: {
                /** @enum {string} */
                code: "BAD_LINE" | "CATALOG_FULL" | "REPEATED_ID" | "REPEATED_PRICE" | "OVERLAPPING_PRICES";
                line: number;
                /** @description The earlier line that the line repeats or overlaps. */
                other?: number;
                detail: string;
            }[];
            /** @description True if there are further problems. */
            more: boolean;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    search: {
        parameters: {
            query?: {
                /** @description True: the reply has every price that matches, one per line, in the order of their ids or values. Without a match it is empty. Every condition is optional. */
                all?: boolean;
                /** @description Maximum number of prices, with `all`. */
                limit?: number;
                /** @description Order by value instead of by id, with `all`. Equal values are in the order of ids. */
                sort?: "value" | "-value";
                /** @description Only prices with a higher id than this one, with `all`. With `sort`, only prices after this one. */
                after?: string;
                /** @description The value of the price `after`, with `sort`. */
                afterValue?: string;
                /** @description The read sees this `sequence` and all before it. Replies to changes have a header `sequence`. */
                sequence?: number;
                /** @description The read sees every change that any node acknowledged before it. */
                linearizable?: boolean;
            };
            header?: never;
            path: {
                /** @description `bitmap` (the default), `map`, or the name of another index. */
                index: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Search"];
            };
        };
        responses: {
            /** @description The price, or all prices that match. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchAnswer"];
                    "application/x-ndjson": string;
                };
            };
        };
    };
    getPrice: {
        parameters: {
            query?: {
                /** @description The read sees this `sequence` and all before it. Replies to changes have a header `sequence`. */
                sequence?: number;
                /** @description The read sees every change that any node acknowledged before it. */
                linearizable?: boolean;
            };
            header?: never;
            path: {
                /** @description Any text of up to 128 bytes; a UUID takes the least memory. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Price"];
                };
            };
        };
    };
    putPrice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Any text of up to 128 bytes; a UUID takes the least memory. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PriceBody"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Price"];
                };
            };
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Price"];
                };
            };
        };
    };
    deletePrice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Any text of up to 128 bytes; a UUID takes the least memory. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patchPrice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Any text of up to 128 bytes; a UUID takes the least memory. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/merge-patch+json": components["schemas"]["PricePatch"];
                "application/json": components["schemas"]["PricePatch"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Price"];
                };
            };
        };
    };
    searchMany: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `bitmap` (the default), `map`, or the name of another index. */
                index: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
        };
    };
    getNode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Node"];
                };
            };
        };
    };
    getFacets: {
        parameters: {
            query?: {
                offeringId?: string;
                groupId?: string;
                priceSpecId?: string;
                /** @description Conditions of a search as JSON, `[{"char","op"?,"value"}]`. */
                charValues?: string;
                /** @description Moment at which the price must be valid: now, a date such as 2026-01-31 or a time such as 2026-01-31T18:00+01:00. A date is its first minute in UTC. */
                at?: string;
                currency?: string;
                /** @description Smallest value, included. */
                minValue?: string;
                /** @description Largest value, included. */
                maxValue?: string;
                /** @description True: the reply has the range of the values of the prices that match, by currency. */
                range?: boolean;
                /** @description Only this list. */
                facet?: "offerings" | "groups" | "specs" | "characteristics";
                /** @description Only the values of this characteristic. */
                char?: string;
                /** @description A part of a name or value, in any case and Unicode form. Others are omitted. */
                q?: string;
                /** @description Order of values: by name (numbers, with or without a unit, by size), or the highest count first. */
                sort?: "name" | "count";
                /** @description Maximum number of values per list. */
                limit?: number;
                /** @description Cursor: `next` of the previous page with the same `sort`. It requires `facet` or `char`. */
                after?: string;
                /** @description Index that counts the prices. */
                index?: string;
                /** @description The read sees this `sequence` and all before it. Replies to changes have a header `sequence`. */
                sequence?: number;
                /** @description The read sees every change that any node acknowledged before it. */
                linearizable?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Facets"];
                };
            };
        };
    };
    exportPrices: {
        parameters: {
            query?: {
                /** @description Only prices with a higher id than this one. */
                after?: string;
                /** @description Maximum number of prices. */
                limit?: number;
                /** @description Format of the lines. Default: CSV if `Accept` prefers `text/csv`, otherwise NDJSON. */
                format?: "ndjson" | "csv";
                /** @description The read sees this `sequence` and all before it. Replies to changes have a header `sequence`. */
                sequence?: number;
                /** @description The read sees every change that any node acknowledged before it. */
                linearizable?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The prices. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
        };
    };
    deletePrices: {
        parameters: {
            query?: {
                offeringId?: string;
                groupId?: string;
                priceSpecId?: string;
                /** @description Conditions of a search as JSON, `[{"char","op"?,"value"}]`. */
                charValues?: string;
                /** @description Moment at which the price must be valid: now, a date such as 2026-01-31 or a time such as 2026-01-31T18:00+01:00. A date is its first minute in UTC. */
                at?: string;
                currency?: string;
                /** @description Smallest value, included. */
                minValue?: string;
                /** @description Largest value, included. */
                maxValue?: string;
                /** @description False: delete the prices that match. */
                dryRun?: boolean;
                /** @description The number of prices that must match. Otherwise the request is refused. */
                expected?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemovedPrices"];
                };
            };
        };
    };
    importPrices: {
        parameters: {
            query?: {
                /** @description True: the import replaces all prices. */
                replace?: boolean;
                /** @description True: nothing is imported. The reply lists all invalid lines, and the lines whose prices repeat each other or overlap. */
                check?: boolean;
                /** @description True: with `replace`, an import without prices removes all prices. */
                empty?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-ndjson": string;
                "text/csv": string;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Imported"] | components["schemas"]["CheckReport"];
                };
            };
        };
    };
}
