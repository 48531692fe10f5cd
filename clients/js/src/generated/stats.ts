// Written by `pnpm generate` from clients/openapi/stats.json.

export interface paths {
    "/collections/{id}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the summed statistics of a collection
         * @description impressions = views; engagements = likes + comments (+ dislikes if known); score = engagements + likes. With `If-None-Match`, 304 if nothing changed.
         */
        get: operations["getStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A collection
         * @description Without `include` the reply has an `ETag`, the version of the collection. `If-None-Match` with this version returns 304, `If-Match` with another returns 412.
         */
        get: operations["getCollection"];
        /** Create or replace a collection */
        put: operations["putCollection"];
        post?: never;
        /**
         * Delete a collection
         * @description It can be restored from the trash for 30 days (`--trash-days`): see `POST /trash/{id}/restore`.
         */
        delete: operations["deleteCollection"];
        options?: never;
        head?: never;
        /**
         * Change a collection
         * @description Omitted fields do not change; `null` removes a field.
         */
        patch: operations["patchCollection"];
        trace?: never;
    };
    "/collections/{id}/videos/{video}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Add a video to a collection */
        put: operations["addVideo"];
        post?: never;
        /** Remove a video from a collection */
        delete: operations["removeVideo"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make the same change of many collections
         * @description Each collection changes completely or not at all, independently of the others. `results` has an entry for each id, in the order of `ids`. If the store is unavailable and nothing was changed, the reply is that error.
         */
        post: operations["changeCollections"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}/duplicate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a copy of a collection under a new id
         * @description The copy has the videos, the fields of the campaign and its sources, which do not add uploads that a person removed from the original. It is not in the archive, and has no history and no posts.
         */
        post: operations["duplicateCollection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The channels and playlists that a collection follows, with their last and their next check */
        get: operations["listSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/trash": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the deleted collections that can be restored, in the order of their ids */
        get: operations["listTrash"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/trash/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a deleted collection with its numbers and its history
         * @description The collection has its time of creation as before, and a new version.
         */
        post: operations["restoreCollection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/trash/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a deleted collection, its numbers and its history for good */
        delete: operations["deleteForGood"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List collections, by default in the order of their ids */
        get: operations["listCollections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/creators": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the creators of all collections, by default those with the most views first */
        get: operations["listCreators"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/creators/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A creator with its collections, its videos and the history of its channel */
        get: operations["getCreator"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}/videos": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the videos of a collection with titles, numbers and removals */
        get: operations["listVideos"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Export a collection and its videos as a file */
        get: operations["exportCollection"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find the videos, channels, playlists and posts in a text
         * @description Nothing is changed. Videos, channels, playlists and posts of other platforms are found in a sheet, a list or prose. A bare word of 11 characters counts only if YouTube knows such a video: 50 words take one unit of quota.
         */
        post: operations["previewPaste"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find what a text would add to a collection
         * @description Nothing is changed. Videos, channels, playlists and posts of other platforms are found in a sheet, a list or prose. A bare word of 11 characters counts only if YouTube knows such a video: 50 words take one unit of quota.
         */
        post: operations["previewPasteForCollection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Growth of a collection within the campaign's dates, or within any other range */
        get: operations["getResults"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export all campaigns as a spreadsheet
         * @description Each campaign has a row with its sums, costs and rate, and rows for its creators, sources, videos, removed uploads and posts of other platforms, with their last stored numbers. An import of the file gives the same campaigns.
         */
        get: operations["exportCampaigns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import campaigns from a spreadsheet
         * @description CSV in UTF-8 with any delimiter, or XLSX; at most 4 MiB. Campaigns with an id are created or replaced. Others are added to the campaign of the same name, or created. Posts and their numbers are added or replaced, and never deleted. Refused rows and campaigns do not stop the others.
         */
        post: operations["importCampaigns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}/posts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the posts of a collection with their last reported numbers, in the order of their ids */
        get: operations["listPosts"];
        put?: never;
        /**
         * Add a post by its link
         * @description Its id is the platform and the id of the link. A post with this id is replaced; its numbers remain.
         */
        post: operations["addPost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}/posts/{post}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Create or replace a post of another platform
         * @description The link is normalised. The numbers of a replaced post remain.
         */
        put: operations["putPost"];
        post?: never;
        /** Delete a post and its numbers */
        delete: operations["deletePost"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}/posts/{post}/numbers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the reported numbers of a post, the oldest first */
        get: operations["listNumbers"];
        put?: never;
        /**
         * Report the numbers of a post at a time
         * @description Numbers may be lower than earlier ones. Numbers of the same time are replaced.
         */
        post: operations["reportNumbers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}/posts/{post}/numbers/{at}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete the numbers of a time */
        delete: operations["deleteNumbers"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}/reported/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * History of the reported sums: a point per time with numbers
         * @description The first point may be before `from`: it has the sums at that time.
         */
        get: operations["getReportedHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}/reported/numbers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import numbers of posts from a CSV file
         * @description A row has a link to the post or its id (`post id`), and counts: `views`, `likes`, `comments`, `shares`, `saves`, `at`, `note`. An empty cell is an absent count. All accepted rows are stored together. At most 10000 rows and 1 MiB.
         */
        post: operations["importNumbers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}/stats/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** History of the sums: one point per change; of points older than a day, about one per hour */
        get: operations["getHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/collections/{id}/videos/{video}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** History of a video: about one point per hour, if its numbers changed */
        get: operations["getVideoHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export all collections, histories and details of videos
         * @description One JSON object per line, from one snapshot. The last line has the SHA-256 of all others. See `pnpm stats export`.
         */
        get: operations["exportAll"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import lines of an export, all or none
         * @description Without the first and the last line of the export; at most 2 MiB. A collection replaces only an older version. Points and details are added. An import can be repeated. See `pnpm stats import`.
         */
        post: operations["importLines"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/upstream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Availability of the YouTube Data API, and the remaining daily budget
         * @description In an outage all calls pause. At `retryAt` one call probes the API. With the caches `lru`, `none` and `refresh`, this is the state of one thread.
         */
        get: operations["getUpstream"];
        put?: never;
        post?: never;
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
            source: string;
        };
        /** Statistics */
        Statistics: {
            impressions: number;
            engagements: number;
            score: number;
            videos: number;
            /** @description Requested videos for which YouTube never returned numbers. */
            missing: string[];
            /** @description Videos for which no request has succeeded yet. Not in the sums. Absent if there are none. */
            unknown?: string[];
            /** @description Videos that were removed or made private, summed with their last numbers. Absent if there are none. */
            gone?: {
                /** @description YouTube id of the video. */
                id: string;
                /**
                 * Format: date-time
                 * @description Time of the first request to which YouTube did not return the video.
                 */
                since: string;
                /**
                 * Format: date-time
                 * @description Time of the last request that returned these numbers, or an earlier time.
                 */
                asOf: string;
            }[];
            /** @description Number of videos whose owner hides this count, for each count. The sums contain the last known values. Absent if there are none. */
            hidden?: {
                views?: number;
                likes?: number;
                comments?: number;
                dislikes?: number;
            };
            /**
             * Format: date-time
             * @description Time of the request for the oldest of the numbers.
             */
            asOf: string;
            /** @description True if the numbers are older than two refresh intervals. */
            stale: boolean;
            /** @description Origin of the numbers. The numbers of `stand-in` are invented. */
            source?: string;
            /** @description Sums of the posts of other platforms, as people or programs reported them. They are not part of the other sums. A sum is absent if it was never reported. Absent for a collection without posts. */
            reported?: {
                /** @description Views. */
                impressions?: number;
                /** @description Likes, comments and shares. */
                engagements?: number;
                saves?: number;
                /** @description Number of posts. */
                posts: number;
                /**
                 * Format: date-time
                 * @description Time of the oldest of the posts' newest numbers. Absent without numbers.
                 */
                asOf?: string;
            };
            byVideo?: {
                /** @description YouTube id of the video. */
                id: string;
                views?: number;
                likes?: number;
                comments?: number;
                dislikes?: number;
                /** @description Counts that YouTube does not state, because the owner hides them. The values are the last known ones, if any. */
                hidden?: ("views" | "likes" | "comments" | "dislikes")[];
                /**
                 * Format: date-time
                 * @description Time since which YouTube does not state at least one count.
                 */
                hiddenSince?: string;
                gone?: {
                    /**
                     * Format: date-time
                     * @description Time of the first request to which YouTube did not return the video.
                     */
                    since: string;
                    /**
                     * Format: date-time
                     * @description Time of the last request that returned these numbers, or an earlier time.
                     */
                    asOf: string;
                };
            }[];
        };
        /** UpstreamProblem */
        UpstreamProblem: {
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
            /** @description Google's machine-readable reason, such as `API_KEY_INVALID`; the code of a network error, such as `ECONNREFUSED`; or `dailyBudgetSpent` for the budget of stats. */
            reason?: string;
            /** @description Remedy for the operator, in one sentence. */
            remedy?: string;
            /**
             * Format: date-time
             * @description No call is made before this time.
             */
            retryAt?: string;
        };
        /** Fee */
        Fee: {
            /** @description Id of a YouTube channel, or a name. */
            creator: string;
            /** @description Fee. */
            amount: number;
        };
        /** New campaign source */
        NewCampaignSource: {
            /** @enum {string} */
            type?: "channel" | "playlist";
            /** @description Id, handle or link of a channel or a playlist; the id is stored. A look-up costs a unit of quota. */
            id: string;
            /** @description Only uploads with one of these words, phrases or #tags in the title or the description. */
            contains?: string[];
            /** @description Title to show. By default that of YouTube. */
            title?: string;
        };
        /** New collection */
        NewCollection: {
            /** @description Ids of videos, or links to them; the ids are stored. Links of YouTube Studio, redirects to a video and punctuation around a link are accepted in addition to the pattern. */
            videos: string[];
            name?: string;
            tags?: string[];
            /**
             * Format: date
             * @description First day of the campaign.
             */
            from?: string;
            /**
             * Format: date
             * @description Last day of the campaign.
             */
            to?: string;
            /** @description Cost of the campaign. */
            cost?: number;
            /** @description Fees in `currency`, at most one for each creator. A collection has either `fees` or `cost`. */
            fees?: components["schemas"]["Fee"][];
            /**
             * @description ISO 4217 code.
             * @enum {string}
             */
            currency?: "AED" | "AFN" | "ALL" | "AMD" | "ANG" | "AOA" | "ARS" | "AUD" | "AWG" | "AZN" | "BAM" | "BBD" | "BDT" | "BGN" | "BHD" | "BIF" | "BMD" | "BND" | "BOB" | "BRL" | "BSD" | "BTN" | "BWP" | "BYN" | "BZD" | "CAD" | "CDF" | "CHF" | "CLP" | "CNY" | "COP" | "CRC" | "CUC" | "CUP" | "CVE" | "CZK" | "DJF" | "DKK" | "DOP" | "DZD" | "EGP" | "ERN" | "ETB" | "EUR" | "FJD" | "FKP" | "GBP" | "GEL" | "GHS" | "GIP" | "GMD" | "GNF" | "GTQ" | "GYD" | "HKD" | "HNL" | "HRK" | "HTG" | "HUF" | "IDR" | "ILS" | "INR" | "IQD" | "IRR" | "ISK" | "JMD" | "JOD" | "JPY" | "KES" | "KGS" | "KHR" | "KMF" | "KPW" | "KRW" | "KWD" | "KYD" | "KZT" | "LAK" | "LBP" | "LKR" | "LRD" | "LSL" | "LYD" | "MAD" | "MDL" | "MGA" | "MKD" | "MMK" | "MNT" | "MOP" | "MRU" | "MUR" | "MVR" | "MWK" | "MXN" | "MYR" | "MZN" | "NAD" | "NGN" | "NIO" | "NOK" | "NPR" | "NZD" | "OMR" | "PAB" | "PEN" | "PGK" | "PHP" | "PKR" | "PLN" | "PYG" | "QAR" | "RON" | "RSD" | "RUB" | "RWF" | "SAR" | "SBD" | "SCR" | "SDG" | "SEK" | "SGD" | "SHP" | "SLE" | "SLL" | "SOS" | "SRD" | "SSP" | "STN" | "SVC" | "SYP" | "SZL" | "THB" | "TJS" | "TMT" | "TND" | "TOP" | "TRY" | "TTD" | "TWD" | "TZS" | "UAH" | "UGX" | "USD" | "UYU" | "UZS" | "VES" | "VND" | "VUV" | "WST" | "XAF" | "XCD" | "XCG" | "XDR" | "XOF" | "XPF" | "XSU" | "YER" | "ZAR" | "ZMW" | "ZWG" | "ZWL";
            /** @description Channels and playlists whose uploads the collection follows. */
            sources?: components["schemas"]["NewCampaignSource"][];
            /** @description True if the collection is in the archive. */
            archived?: boolean;
        };
        /** Campaign source */
        CampaignSource: {
            /** @enum {string} */
            type: "channel" | "playlist";
            id: string;
            /** @description Only uploads with one of these words, phrases or #tags in the title or the description. */
            contains?: string[];
            title?: string;
        };
        /** Collection */
        Collection: {
            /** @description Id that the client chooses. */
            id: string;
            videos: string[];
            name?: string;
            tags?: string[];
            /**
             * Format: date
             * @description First day of the campaign.
             */
            from?: string;
            /**
             * Format: date
             * @description Last day of the campaign.
             */
            to?: string;
            /** @description Cost of the campaign. */
            cost?: number;
            /** @description Fees in `currency`, at most one for each creator. A collection has either `fees` or `cost`. */
            fees?: components["schemas"]["Fee"][];
            currency?: string;
            /** @description Channels and playlists whose uploads the collection follows. */
            sources?: components["schemas"]["CampaignSource"][];
            /** @description True if the collection is in the archive. */
            archived?: boolean;
            /** @description Videos that sources added: the id of the source by the id of the video. Absent if there are none. */
            followed?: {
                [key: string]: string;
            };
            /** @description Uploads of sources that were removed: they are never added again. Absent if there are none. */
            refused?: string[];
            /** @description Version, which differs after every change: the `ETag` without its quotation marks. */
            version: string;
            /**
             * Format: date-time
             * @description Creation time. It does not change with the collection, and differs if the collection is deleted and created again. Absent for collections that version 0.2 created.
             */
            created?: string;
        };
        /** Change of a collection */
        ChangeOfACollection: {
            /** @description Ids of videos, or links to them; the ids are stored. Links of YouTube Studio, redirects to a video and punctuation around a link are accepted in addition to the pattern. */
            videos?: string[];
            name?: string | null;
            tags?: string[] | null;
            from?: string | null;
            to?: string | null;
            cost?: number | null;
            fees?: components["schemas"]["Fee"][] | null;
            currency?: ("AED" | "AFN" | "ALL" | "AMD" | "ANG" | "AOA" | "ARS" | "AUD" | "AWG" | "AZN" | "BAM" | "BBD" | "BDT" | "BGN" | "BHD" | "BIF" | "BMD" | "BND" | "BOB" | "BRL" | "BSD" | "BTN" | "BWP" | "BYN" | "BZD" | "CAD" | "CDF" | "CHF" | "CLP" | "CNY" | "COP" | "CRC" | "CUC" | "CUP" | "CVE" | "CZK" | "DJF" | "DKK" | "DOP" | "DZD" | "EGP" | "ERN" | "ETB" | "EUR" | "FJD" | "FKP" | "GBP" | "GEL" | "GHS" | "GIP" | "GMD" | "GNF" | "GTQ" | "GYD" | "HKD" | "HNL" | "HRK" | "HTG" | "HUF" | "IDR" | "ILS" | "INR" | "IQD" | "IRR" | "ISK" | "JMD" | "JOD" | "JPY" | "KES" | "KGS" | "KHR" | "KMF" | "KPW" | "KRW" | "KWD" | "KYD" | "KZT" | "LAK" | "LBP" | "LKR" | "LRD" | "LSL" | "LYD" | "MAD" | "MDL" | "MGA" | "MKD" | "MMK" | "MNT" | "MOP" | "MRU" | "MUR" | "MVR" | "MWK" | "MXN" | "MYR" | "MZN" | "NAD" | "NGN" | "NIO" | "NOK" | "NPR" | "NZD" | "OMR" | "PAB" | "PEN" | "PGK" | "PHP" | "PKR" | "PLN" | "PYG" | "QAR" | "RON" | "RSD" | "RUB" | "RWF" | "SAR" | "SBD" | "SCR" | "SDG" | "SEK" | "SGD" | "SHP" | "SLE" | "SLL" | "SOS" | "SRD" | "SSP" | "STN" | "SVC" | "SYP" | "SZL" | "THB" | "TJS" | "TMT" | "TND" | "TOP" | "TRY" | "TTD" | "TWD" | "TZS" | "UAH" | "UGX" | "USD" | "UYU" | "UZS" | "VES" | "VND" | "VUV" | "WST" | "XAF" | "XCD" | "XCG" | "XDR" | "XOF" | "XPF" | "XSU" | "YER" | "ZAR" | "ZMW" | "ZWG" | "ZWL") | null;
            sources?: components["schemas"]["NewCampaignSource"][] | null;
            archived?: boolean | null;
        };
        /** Sums */
        Sums: {
            impressions: number;
            engagements: number;
            score: number;
            videos: number;
            /** @description Requested videos for which YouTube never returned numbers. */
            missing: string[];
            /** @description Videos for which no request has succeeded yet. Not in the sums. Absent if there are none. */
            unknown?: string[];
            /** @description Videos that were removed or made private, summed with their last numbers. Absent if there are none. */
            gone?: {
                /** @description YouTube id of the video. */
                id: string;
                /**
                 * Format: date-time
                 * @description Time of the first request to which YouTube did not return the video.
                 */
                since: string;
                /**
                 * Format: date-time
                 * @description Time of the last request that returned these numbers, or an earlier time.
                 */
                asOf: string;
            }[];
            /** @description Number of videos whose owner hides this count, for each count. The sums contain the last known values. Absent if there are none. */
            hidden?: {
                views?: number;
                likes?: number;
                comments?: number;
                dislikes?: number;
            };
            /**
             * Format: date-time
             * @description Time of the request for the oldest of the numbers.
             */
            asOf: string;
            /** @description True if the numbers are older than two refresh intervals. */
            stale: boolean;
            /** @description Origin of the numbers. The numbers of `stand-in` are invented. */
            source?: string;
            /** @description Sums of the posts of other platforms, as people or programs reported them. They are not part of the other sums. A sum is absent if it was never reported. Absent for a collection without posts. */
            reported?: {
                /** @description Views. */
                impressions?: number;
                /** @description Likes, comments and shares. */
                engagements?: number;
                saves?: number;
                /** @description Number of posts. */
                posts: number;
                /**
                 * Format: date-time
                 * @description Time of the oldest of the posts' newest numbers. Absent without numbers.
                 */
                asOf?: string;
            };
        };
        /** Creator of a collection */
        CreatorOfACollection: {
            /** @description Id of the YouTube channel; for a person without videos, the name in the fee. */
            id: string;
            /** @description Title of the channel. */
            title?: string;
            handle?: string;
            /** @description URL of the picture of the channel. */
            thumbnail?: string;
            /** @description Rounded by YouTube. Absent if it is unknown or hidden. */
            subscribers?: number;
            /** @description True if the channel hides its subscribers. */
            hidesSubscribers?: boolean;
            /** @description Sums over the distinct videos. */
            stats: {
                impressions: number;
                engagements: number;
                score: number;
                videos: number;
            };
            /** @description Engagements divided by views. Absent without views. */
            rate?: number;
            /** @description Share of the views of the collection. Absent without views. */
            share?: number;
            /** @description In the currency of the collection. */
            fee?: number;
            /** @description The fee per thousand views and per engagement. Absent without a fee. */
            costs?: {
                perThousandViews?: number;
                perEngagement?: number;
            };
        };
        /** Collection with its numbers and creators */
        CollectionWithItsNumbersAndCreators: {
            /** @description Id that the client chooses. */
            id: string;
            videos: string[];
            name?: string;
            tags?: string[];
            /**
             * Format: date
             * @description First day of the campaign.
             */
            from?: string;
            /**
             * Format: date
             * @description Last day of the campaign.
             */
            to?: string;
            /** @description Cost of the campaign. */
            cost?: number;
            /** @description Fees in `currency`, at most one for each creator. A collection has either `fees` or `cost`. */
            fees?: components["schemas"]["Fee"][];
            currency?: string;
            /** @description Channels and playlists whose uploads the collection follows. */
            sources?: components["schemas"]["CampaignSource"][];
            /** @description True if the collection is in the archive. */
            archived?: boolean;
            /** @description Videos that sources added: the id of the source by the id of the video. Absent if there are none. */
            followed?: {
                [key: string]: string;
            };
            /** @description Uploads of sources that were removed: they are never added again. Absent if there are none. */
            refused?: string[];
            /** @description Version, which differs after every change: the `ETag` without its quotation marks. */
            version: string;
            /**
             * Format: date-time
             * @description Creation time. It does not change with the collection, and differs if the collection is deleted and created again. Absent for collections that version 0.2 created.
             */
            created?: string;
            /** @description Absent if no numbers are known. */
            stats?: components["schemas"]["Sums"];
            /** @description Growth of the sums, without the changes that `added` and `removed` state. Absent if there is no history. */
            change?: {
                "24h": {
                    impressions: number;
                    engagements: number;
                    score: number;
                    /**
                     * Format: date-time
                     * @description Beginning of the window, or the first later time with known sums if they are unknown at the beginning.
                     */
                    since: string;
                    /**
                     * Format: date-time
                     * @description End of the window: the time at which the sums were last confirmed.
                     */
                    until: string;
                    /** @description True if the growth covers the whole window. */
                    isWhole?: boolean;
                    /** @description True if the collection began within the window. */
                    young?: boolean;
                    /** @description Increase that is not growth: videos added to the collection, and counts that YouTube states for the first time, or again after more than two hours. Absent if there is none. */
                    added?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                    /** @description Decrease that is not growth: videos removed from the collection, and counts that are lower when YouTube states them again after more than two hours. Absent if there is none. */
                    removed?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                };
                "7d": {
                    impressions: number;
                    engagements: number;
                    score: number;
                    /**
                     * Format: date-time
                     * @description Beginning of the window, or the first later time with known sums if they are unknown at the beginning.
                     */
                    since: string;
                    /**
                     * Format: date-time
                     * @description End of the window: the time at which the sums were last confirmed.
                     */
                    until: string;
                    /** @description True if the growth covers the whole window. */
                    isWhole?: boolean;
                    /** @description True if the collection began within the window. */
                    young?: boolean;
                    /** @description Increase that is not growth: videos added to the collection, and counts that YouTube states for the first time, or again after more than two hours. Absent if there is none. */
                    added?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                    /** @description Decrease that is not growth: videos removed from the collection, and counts that are lower when YouTube states them again after more than two hours. Absent if there is none. */
                    removed?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                };
                "30d": {
                    impressions: number;
                    engagements: number;
                    score: number;
                    /**
                     * Format: date-time
                     * @description Beginning of the window, or the first later time with known sums if they are unknown at the beginning.
                     */
                    since: string;
                    /**
                     * Format: date-time
                     * @description End of the window: the time at which the sums were last confirmed.
                     */
                    until: string;
                    /** @description True if the growth covers the whole window. */
                    isWhole?: boolean;
                    /** @description True if the collection began within the window. */
                    young?: boolean;
                    /** @description Increase that is not growth: videos added to the collection, and counts that YouTube states for the first time, or again after more than two hours. Absent if there is none. */
                    added?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                    /** @description Decrease that is not growth: videos removed from the collection, and counts that are lower when YouTube states them again after more than two hours. Absent if there is none. */
                    removed?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                };
            };
            /** @description Cost per thousand views and per engagement. Only for collections with a cost. */
            costs?: {
                perThousandViews?: number;
                perEngagement?: number;
            };
            /** @description Creators of the collection, those with the most views first. Only with `include=creators`. */
            creators?: components["schemas"]["CreatorOfACollection"][];
            /** @description Sums of the videos whose channel is unknown. Only with `include=creators`; absent without such videos. */
            unattributed?: {
                impressions: number;
                engagements: number;
                score: number;
                videos: number;
            };
        };
        /** Edit of collections */
        EditOfCollections: {
            /** @description Tags to add. */
            addTags?: string[];
            /** @description Tags to remove. */
            removeTags?: string[];
            /** @description True to move the collections to the archive, false to take them out. */
            archived?: boolean;
        };
        /** Deletion of collections */
        DeletionOfCollections: {
            /**
             * @description Moves the collections to the trash.
             * @enum {boolean}
             */
            deleted: true;
        };
        /** Restoration of collections */
        RestorationOfCollections: {
            /**
             * @description Restores the collections from the trash.
             * @enum {boolean}
             */
            restored: true;
        };
        /** Bulk change */
        BulkChange: {
            ids: string[];
            change: components["schemas"]["EditOfCollections"] | components["schemas"]["DeletionOfCollections"] | components["schemas"]["RestorationOfCollections"];
            /** @description Required `version` of a collection, by its id: the collection changes only if it still has it. */
            versions?: {
                [key: string]: string;
            };
        };
        /** Bulk result */
        BulkResult: {
            /** @description Id that the client chooses. */
            id: string;
            /** @description False if there was nothing to do, or the change was refused. */
            changed: boolean;
            /** @description Version after the change. Absent after a deletion and a refusal. */
            version?: string;
            /** @description Code of the refusal, as that of a change of this collection alone. */
            code?: string;
            /** @description Detail of the refusal. */
            detail?: string;
        };
        /** Bulk results */
        BulkResults: {
            results: components["schemas"]["BulkResult"][];
        };
        /** Copy of a collection */
        CopyOfACollection: {
            /** @description Name of the copy; by default the same name. */
            name?: string;
        };
        /** State of a source */
        StateOfASource: {
            /** @enum {string} */
            type: "channel" | "playlist";
            id: string;
            /** @description Only uploads with one of these words, phrases or #tags in the title or the description. */
            contains?: string[];
            title?: string;
            /**
             * @description `waiting`: not checked yet. `active`: the last check succeeded. `failing`: YouTube refuses the list. `paused`: no calls at present. `inactive`: not checked now.
             * @enum {string}
             */
            state: "waiting" | "active" | "failing" | "paused" | "inactive";
            /** @description Reason of YouTube such as `playlistNotFound`; `dailyBudgetSpent`, or `sideBudgetSpent` for the tenth of it that sources may use; of an inactive source `archived`, `notBegun`, `ended` or `noPoller`. */
            reason?: string;
            /** @description Number of its videos that it added. */
            added: number;
            /**
             * Format: date-time
             * @description Time of the last check. Absent before the first one.
             */
            checked?: string;
            /**
             * Format: date-time
             * @description Time of the next check, as far as it is planned.
             */
            next?: string;
        };
        /** Sources */
        Sources: {
            sources: components["schemas"]["StateOfASource"][];
        };
        /** Deleted collection */
        DeletedCollection: {
            /** @description Id that the client chooses. */
            id: string;
            videos: string[];
            name?: string;
            tags?: string[];
            /**
             * Format: date
             * @description First day of the campaign.
             */
            from?: string;
            /**
             * Format: date
             * @description Last day of the campaign.
             */
            to?: string;
            /** @description Cost of the campaign. */
            cost?: number;
            /** @description Fees in `currency`, at most one for each creator. A collection has either `fees` or `cost`. */
            fees?: components["schemas"]["Fee"][];
            currency?: string;
            /** @description Channels and playlists whose uploads the collection follows. */
            sources?: components["schemas"]["CampaignSource"][];
            /** @description True if the collection is in the archive. */
            archived?: boolean;
            /** @description Videos that sources added: the id of the source by the id of the video. Absent if there are none. */
            followed?: {
                [key: string]: string;
            };
            /** @description Uploads of sources that were removed: they are never added again. Absent if there are none. */
            refused?: string[];
            /** @description Version, which differs after every change: the `ETag` without its quotation marks. */
            version: string;
            /**
             * Format: date-time
             * @description Creation time. It does not change with the collection, and differs if the collection is deleted and created again. Absent for collections that version 0.2 created.
             */
            created?: string;
            /**
             * Format: date-time
             * @description Time of the deletion.
             */
            deleted: string;
            /**
             * Format: date-time
             * @description Time from which the collection is deleted for good.
             */
            expires: string;
        };
        /** Trash */
        Trash: {
            collections: components["schemas"]["DeletedCollection"][];
            /** @description Cursor for `after` of the next page, which may be empty. */
            next?: string;
        };
        /** Collection with its numbers */
        CollectionWithItsNumbers: {
            /** @description Id that the client chooses. */
            id: string;
            videos: string[];
            name?: string;
            tags?: string[];
            /**
             * Format: date
             * @description First day of the campaign.
             */
            from?: string;
            /**
             * Format: date
             * @description Last day of the campaign.
             */
            to?: string;
            /** @description Cost of the campaign. */
            cost?: number;
            /** @description Fees in `currency`, at most one for each creator. A collection has either `fees` or `cost`. */
            fees?: components["schemas"]["Fee"][];
            currency?: string;
            /** @description Channels and playlists whose uploads the collection follows. */
            sources?: components["schemas"]["CampaignSource"][];
            /** @description True if the collection is in the archive. */
            archived?: boolean;
            /** @description Videos that sources added: the id of the source by the id of the video. Absent if there are none. */
            followed?: {
                [key: string]: string;
            };
            /** @description Uploads of sources that were removed: they are never added again. Absent if there are none. */
            refused?: string[];
            /** @description Version, which differs after every change: the `ETag` without its quotation marks. */
            version: string;
            /**
             * Format: date-time
             * @description Creation time. It does not change with the collection, and differs if the collection is deleted and created again. Absent for collections that version 0.2 created.
             */
            created?: string;
            /** @description Absent if no numbers are known. */
            stats?: components["schemas"]["Sums"];
            /** @description Growth of the sums, without the changes that `added` and `removed` state. Absent if there is no history. */
            change?: {
                "24h": {
                    impressions: number;
                    engagements: number;
                    score: number;
                    /**
                     * Format: date-time
                     * @description Beginning of the window, or the first later time with known sums if they are unknown at the beginning.
                     */
                    since: string;
                    /**
                     * Format: date-time
                     * @description End of the window: the time at which the sums were last confirmed.
                     */
                    until: string;
                    /** @description True if the growth covers the whole window. */
                    isWhole?: boolean;
                    /** @description True if the collection began within the window. */
                    young?: boolean;
                    /** @description Increase that is not growth: videos added to the collection, and counts that YouTube states for the first time, or again after more than two hours. Absent if there is none. */
                    added?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                    /** @description Decrease that is not growth: videos removed from the collection, and counts that are lower when YouTube states them again after more than two hours. Absent if there is none. */
                    removed?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                };
                "7d": {
                    impressions: number;
                    engagements: number;
                    score: number;
                    /**
                     * Format: date-time
                     * @description Beginning of the window, or the first later time with known sums if they are unknown at the beginning.
                     */
                    since: string;
                    /**
                     * Format: date-time
                     * @description End of the window: the time at which the sums were last confirmed.
                     */
                    until: string;
                    /** @description True if the growth covers the whole window. */
                    isWhole?: boolean;
                    /** @description True if the collection began within the window. */
                    young?: boolean;
                    /** @description Increase that is not growth: videos added to the collection, and counts that YouTube states for the first time, or again after more than two hours. Absent if there is none. */
                    added?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                    /** @description Decrease that is not growth: videos removed from the collection, and counts that are lower when YouTube states them again after more than two hours. Absent if there is none. */
                    removed?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                };
                "30d": {
                    impressions: number;
                    engagements: number;
                    score: number;
                    /**
                     * Format: date-time
                     * @description Beginning of the window, or the first later time with known sums if they are unknown at the beginning.
                     */
                    since: string;
                    /**
                     * Format: date-time
                     * @description End of the window: the time at which the sums were last confirmed.
                     */
                    until: string;
                    /** @description True if the growth covers the whole window. */
                    isWhole?: boolean;
                    /** @description True if the collection began within the window. */
                    young?: boolean;
                    /** @description Increase that is not growth: videos added to the collection, and counts that YouTube states for the first time, or again after more than two hours. Absent if there is none. */
                    added?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                    /** @description Decrease that is not growth: videos removed from the collection, and counts that are lower when YouTube states them again after more than two hours. Absent if there is none. */
                    removed?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                };
            };
            /** @description Cost per thousand views and per engagement. Only for collections with a cost. */
            costs?: {
                perThousandViews?: number;
                perEngagement?: number;
            };
        };
        /** Collections */
        Collections: {
            collections: components["schemas"]["CollectionWithItsNumbers"][];
            /** @description Cursor for `after` of the next page, which may be empty. */
            next?: string;
            /** @description Number of matching collections. Absent in the default order without `include`, `offset`, `q`, `tag` and `archived`. */
            total?: number;
        };
        /** Creator */
        Creator: {
            /** @description Id of the YouTube channel; for a person without videos, the name in the fee. */
            id: string;
            /** @description Title of the channel. */
            title?: string;
            handle?: string;
            /** @description URL of the picture of the channel. */
            thumbnail?: string;
            /** @description Rounded by YouTube. Absent if it is unknown or hidden. */
            subscribers?: number;
            /** @description True if the channel hides its subscribers. */
            hidesSubscribers?: boolean;
            /** @description Sums over the distinct videos. */
            stats: {
                impressions: number;
                engagements: number;
                score: number;
                videos: number;
            };
            /** @description Engagements divided by views. Absent without views. */
            rate?: number;
            /** @description Number of collections. */
            campaignCount: number;
            /** @description Sum of the fees in each currency. Absent without fees. */
            fees?: {
                currency?: string;
                amount: number;
            }[];
            /** @description The fees per thousand views and per engagement of the distinct videos in collections with a fee. Absent with several currencies. */
            costs?: {
                perThousandViews?: number;
                perEngagement?: number;
            };
            /**
             * Format: date-time
             * @description Time of the request for the oldest of the numbers. Absent without numbers.
             */
            asOf?: string;
            /** @description True if the numbers are older than two refresh intervals. */
            stale?: boolean;
        };
        /** Creators */
        Creators: {
            creators: components["schemas"]["Creator"][];
            /** @description Number of creators that match. */
            total: number;
            /** @description Cursor for `after` of the next page, which may be empty. */
            next?: string;
        };
        /** Collection of a creator */
        CollectionOfACreator: {
            /** @description Id that the client chooses. */
            id: string;
            name?: string;
            currency?: string;
            /** @description Sums over the distinct videos. */
            stats: {
                impressions: number;
                engagements: number;
                score: number;
                videos: number;
            };
            /** @description Engagements divided by views. Absent without views. */
            rate?: number;
            /** @description Share of the views of the collection. Absent without views. */
            share?: number;
            /** @description In the currency of the collection. */
            fee?: number;
            /** @description The fee per thousand views and per engagement. Absent without a fee. */
            costs?: {
                perThousandViews?: number;
                perEngagement?: number;
            };
        };
        /** Video of a creator */
        VideoOfACreator: {
            /** @description YouTube id of the video. */
            id: string;
            /** Format: uri */
            url: string;
            title?: string;
            channel?: string;
            channelId?: string;
            /** Format: date-time */
            publishedAt?: string;
            /** @description Length in seconds. Absent during a live broadcast. */
            duration?: number;
            /**
             * @description State of a live broadcast; `none` for other videos.
             * @enum {string}
             */
            live?: "none" | "live" | "upcoming";
            /** @description True for a video of up to 60 s. The API of YouTube does not state which videos are Shorts. */
            isShort?: boolean;
            /** @description This and the other counts are absent if YouTube never stated them. */
            views?: number;
            likes?: number;
            comments?: number;
            dislikes?: number;
            /** @description Counts that YouTube does not state, because the owner hides them. The values are the last known ones, if any. */
            hidden?: ("views" | "likes" | "comments" | "dislikes")[];
            /**
             * Format: date-time
             * @description Time since which YouTube does not state at least one count.
             */
            hiddenSince?: string;
            /** @description The video was removed or made private. The numbers are its last ones. */
            gone?: {
                /**
                 * Format: date-time
                 * @description Time of the first request to which YouTube did not return the video.
                 */
                since: string;
                /**
                 * Format: date-time
                 * @description Time of the last request that returned these numbers, or an earlier time.
                 */
                asOf: string;
            };
            /** @description True if the video was requested, but YouTube never returned numbers. */
            missing?: boolean;
            /** @description Ids of the collections that contain it. */
            campaigns: string[];
        };
        /** Creator with its collections and videos */
        CreatorWithItsCollectionsAndVideos: {
            /** @description Id of the YouTube channel; for a person without videos, the name in the fee. */
            id: string;
            /** @description Title of the channel. */
            title?: string;
            handle?: string;
            /** @description URL of the picture of the channel. */
            thumbnail?: string;
            /** @description Rounded by YouTube. Absent if it is unknown or hidden. */
            subscribers?: number;
            /** @description True if the channel hides its subscribers. */
            hidesSubscribers?: boolean;
            /** @description Sums over the distinct videos. */
            stats: {
                impressions: number;
                engagements: number;
                score: number;
                videos: number;
            };
            /** @description Engagements divided by views. Absent without views. */
            rate?: number;
            /** @description Number of collections. */
            campaignCount: number;
            /** @description Sum of the fees in each currency. Absent without fees. */
            fees?: {
                currency?: string;
                amount: number;
            }[];
            /** @description The fees per thousand views and per engagement of the distinct videos in collections with a fee. Absent with several currencies. */
            costs?: {
                perThousandViews?: number;
                perEngagement?: number;
            };
            /**
             * Format: date-time
             * @description Time of the request for the oldest of the numbers. Absent without numbers.
             */
            asOf?: string;
            /** @description True if the numbers are older than two refresh intervals. */
            stale?: boolean;
            /** @description Collections with videos of the creator or with a fee, those with the most views first. */
            campaigns: components["schemas"]["CollectionOfACreator"][];
            /** @description The videos with the most views, at most 1000. */
            videos: components["schemas"]["VideoOfACreator"][];
            /** @description Counts of the whole channel over time. An unknown or hidden count is absent. */
            history: {
                /** Format: date-time */
                at: string;
                subscribers?: number;
                views?: number;
                videos?: number;
            }[];
        };
        /** Video */
        Video: {
            /** @description YouTube id of the video. */
            id: string;
            /** Format: uri */
            url: string;
            title?: string;
            channel?: string;
            channelId?: string;
            /** Format: date-time */
            publishedAt?: string;
            /** @description Length in seconds. Absent during a live broadcast. */
            duration?: number;
            /**
             * @description State of a live broadcast; `none` for other videos.
             * @enum {string}
             */
            live?: "none" | "live" | "upcoming";
            /** @description True for a video of up to 60 s. The API of YouTube does not state which videos are Shorts. */
            isShort?: boolean;
            /** @description This and the other counts are absent if YouTube never stated them. */
            views?: number;
            likes?: number;
            comments?: number;
            dislikes?: number;
            /** @description Counts that YouTube does not state, because the owner hides them. The values are the last known ones, if any. */
            hidden?: ("views" | "likes" | "comments" | "dislikes")[];
            /**
             * Format: date-time
             * @description Time since which YouTube does not state at least one count.
             */
            hiddenSince?: string;
            /** @description The video was removed or made private. The numbers are its last ones. */
            gone?: {
                /**
                 * Format: date-time
                 * @description Time of the first request to which YouTube did not return the video.
                 */
                since: string;
                /**
                 * Format: date-time
                 * @description Time of the last request that returned these numbers, or an earlier time.
                 */
                asOf: string;
            };
            /** @description True if the video was requested, but YouTube never returned numbers. */
            missing?: boolean;
        };
        /** Videos */
        Videos: {
            videos: components["schemas"]["Video"][];
            /**
             * Format: date-time
             * @description Time of the request for the oldest of the numbers.
             */
            asOf: string;
            /** @description True if the numbers are older than two refresh intervals. */
            stale: boolean;
        };
        /** Post */
        Post: {
            /** @description Id of the post in the collection. */
            id: string;
            /** Format: uri */
            url: string;
            /**
             * @description Follows from the link. A request may omit it; another platform than that of the link is refused.
             * @enum {string}
             */
            platform: "instagram" | "tiktok" | "twitch" | "x" | "facebook" | "linkedin";
            /** @description Name of the creator. By default the name in the link, if there is one. */
            creator?: string;
            title?: string;
            /** @description Day or time of publication. */
            published?: string;
            /** @description Number of times with numbers. */
            points: number;
            /** @description Last reported value of each count. A count that was never reported is absent. Absent without numbers. */
            numbers?: {
                views?: number;
                likes?: number;
                comments?: number;
                shares?: number;
                saves?: number;
                /**
                 * Format: date-time
                 * @description Time of the newest numbers.
                 */
                asOf: string;
            };
        };
        /** Exported collection */
        ExportedCollection: {
            /** @description Id that the client chooses. */
            id: string;
            videos: components["schemas"]["Video"][];
            name?: string;
            tags?: string[];
            /**
             * Format: date
             * @description First day of the campaign.
             */
            from?: string;
            /**
             * Format: date
             * @description Last day of the campaign.
             */
            to?: string;
            /** @description Cost of the campaign. */
            cost?: number;
            /** @description Fees in `currency`, at most one for each creator. A collection has either `fees` or `cost`. */
            fees?: components["schemas"]["Fee"][];
            currency?: string;
            /** @description Channels and playlists whose uploads the collection follows. */
            sources?: components["schemas"]["CampaignSource"][];
            /** @description True if the collection is in the archive. */
            archived?: boolean;
            /** @description Videos that sources added: the id of the source by the id of the video. Absent if there are none. */
            followed?: {
                [key: string]: string;
            };
            /** @description Uploads of sources that were removed: they are never added again. Absent if there are none. */
            refused?: string[];
            /** @description Version, which differs after every change: the `ETag` without its quotation marks. */
            version: string;
            /**
             * Format: date-time
             * @description Creation time. It does not change with the collection, and differs if the collection is deleted and created again. Absent for collections that version 0.2 created.
             */
            created?: string;
            /** @description Sums of the collection. */
            stats: components["schemas"]["Sums"];
            /** @description Growth of the sums, without the changes that `added` and `removed` state. Absent if there is no history. */
            change?: {
                "24h": {
                    impressions: number;
                    engagements: number;
                    score: number;
                    /**
                     * Format: date-time
                     * @description Beginning of the window, or the first later time with known sums if they are unknown at the beginning.
                     */
                    since: string;
                    /**
                     * Format: date-time
                     * @description End of the window: the time at which the sums were last confirmed.
                     */
                    until: string;
                    /** @description True if the growth covers the whole window. */
                    isWhole?: boolean;
                    /** @description True if the collection began within the window. */
                    young?: boolean;
                    /** @description Increase that is not growth: videos added to the collection, and counts that YouTube states for the first time, or again after more than two hours. Absent if there is none. */
                    added?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                    /** @description Decrease that is not growth: videos removed from the collection, and counts that are lower when YouTube states them again after more than two hours. Absent if there is none. */
                    removed?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                };
                "7d": {
                    impressions: number;
                    engagements: number;
                    score: number;
                    /**
                     * Format: date-time
                     * @description Beginning of the window, or the first later time with known sums if they are unknown at the beginning.
                     */
                    since: string;
                    /**
                     * Format: date-time
                     * @description End of the window: the time at which the sums were last confirmed.
                     */
                    until: string;
                    /** @description True if the growth covers the whole window. */
                    isWhole?: boolean;
                    /** @description True if the collection began within the window. */
                    young?: boolean;
                    /** @description Increase that is not growth: videos added to the collection, and counts that YouTube states for the first time, or again after more than two hours. Absent if there is none. */
                    added?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                    /** @description Decrease that is not growth: videos removed from the collection, and counts that are lower when YouTube states them again after more than two hours. Absent if there is none. */
                    removed?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                };
                "30d": {
                    impressions: number;
                    engagements: number;
                    score: number;
                    /**
                     * Format: date-time
                     * @description Beginning of the window, or the first later time with known sums if they are unknown at the beginning.
                     */
                    since: string;
                    /**
                     * Format: date-time
                     * @description End of the window: the time at which the sums were last confirmed.
                     */
                    until: string;
                    /** @description True if the growth covers the whole window. */
                    isWhole?: boolean;
                    /** @description True if the collection began within the window. */
                    young?: boolean;
                    /** @description Increase that is not growth: videos added to the collection, and counts that YouTube states for the first time, or again after more than two hours. Absent if there is none. */
                    added?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                    /** @description Decrease that is not growth: videos removed from the collection, and counts that are lower when YouTube states them again after more than two hours. Absent if there is none. */
                    removed?: {
                        impressions: number;
                        engagements: number;
                        score: number;
                        videos: number;
                    };
                };
            };
            /** @description Cost per thousand views and per engagement. Only for collections with a cost. */
            costs?: {
                perThousandViews?: number;
                perEngagement?: number;
            };
            /** @description Absent without posts. */
            posts?: components["schemas"]["Post"][];
        };
        /** Pasted text */
        PastedText: {
            /** @description A pasted sheet, list or prose. */
            text: string;
        };
        /** Preview values */
        PreviewValues: {
            creator?: string;
            fee?: number;
            currency?: string;
            published?: string;
        };
        /** Preview item */
        PreviewItem: {
            /** @description Line of the text, from 1. */
            line: number;
            /** @description The pasted text, at most 200 characters. */
            text: string;
            /**
             * @description `member`: the collection contains it. `duplicate`: an earlier line names it. `unknown`: a bare word of 11 characters that could not be looked up, because of an outage or the budget.
             * @enum {string}
             */
            state: "new" | "member" | "duplicate" | "unknown" | "refused";
            /**
             * @description Why the item is refused or unknown.
             * @enum {string}
             */
            reason?: "UNSUPPORTED_HOST" | "UNSUPPORTED_LINK" | "MALFORMED_ID" | "SHORTENED_LINK" | "PROFILE_LINK" | "PERSONAL_PLAYLIST" | "TOO_LONG" | "NO_LINK" | "NOT_A_VIDEO" | "NOT_CHECKED";
            /** @description Line of the first item for the same content. */
            firstLine?: number;
            /** @enum {string} */
            type?: "video" | "channel" | "playlist" | "post";
            /** @enum {string} */
            platform?: "youtube" | "instagram" | "tiktok" | "twitch" | "x" | "facebook" | "linkedin";
            /** @description Absent for a channel that only has a name. */
            id?: string;
            /** @description Normalised link. */
            url?: string;
            /** @description Name of a channel without an id, without `@`. */
            name?: string;
            /** @enum {string} */
            nameKind?: "handle" | "user" | "custom";
            /** @description True for a link of the form /shorts/. */
            isShort?: boolean;
            /** @description Author of a post, if its link contains it. */
            author?: string;
            /** @description Title of the video, if it is known. */
            title?: string;
            /** @description Channel of the video, if it is known. */
            channel?: string;
            /** @description Values of the row of a sheet. */
            values?: components["schemas"]["PreviewValues"];
        };
        /** Preview */
        Preview: {
            items: components["schemas"]["PreviewItem"][];
            /** @description Headings of a sheet whose columns are ignored. */
            unknownHeadings: string[];
            /** @description True if the text has more than 10,000 items. */
            isCut?: boolean;
        };
        /** Results */
        Results: {
            /**
             * Format: date-time
             * @description Beginning of the range.
             */
            from: string;
            /**
             * Format: date-time
             * @description End of the range, exclusive.
             */
            to: string;
            /** @description Time zone of the days. */
            zone: string;
            /**
             * @description Whether the range lies in the future, contains the present, or is over.
             * @enum {string}
             */
            state: "upcoming" | "running" | "ended";
            /** @description Growth without edits. This, `start` and `end` are absent if no sums are known within the range. */
            growth?: {
                impressions: number;
                engagements: number;
                score: number;
                /** @description Increase that is not growth: videos added to the collection, and counts that YouTube states for the first time, or again after more than two hours. Absent if there is none. */
                added?: {
                    impressions: number;
                    engagements: number;
                    score: number;
                    videos: number;
                };
                /** @description Decrease that is not growth: videos removed from the collection, and counts that are lower when YouTube states them again after more than two hours. Absent if there is none. */
                removed?: {
                    impressions: number;
                    engagements: number;
                    score: number;
                    videos: number;
                };
            };
            start?: {
                /**
                 * Format: date-time
                 * @description Time of the sums: that of the range, except with `first` and `last`.
                 */
                at: string;
                impressions: number;
                engagements: number;
                score: number;
                videos: number;
                /**
                 * @description `exact`: numbers confirm the sums at that time. `interpolated`: they lie between two known sums. `first`: they are the first known ones, after that time. `last`: they are the last known ones, before it.
                 * @enum {string}
                 */
                quality: "exact" | "interpolated" | "first" | "last";
                /** @description Length of the time without known sums at this end (s). */
                gap: number;
                /** @description Age of the oldest of the numbers when their sums were stored (s). */
                age: number;
            };
            end?: {
                /**
                 * Format: date-time
                 * @description Time of the sums: that of the range, except with `first` and `last`.
                 */
                at: string;
                impressions: number;
                engagements: number;
                score: number;
                videos: number;
                /**
                 * @description `exact`: numbers confirm the sums at that time. `interpolated`: they lie between two known sums. `first`: they are the first known ones, after that time. `last`: they are the last known ones, before it.
                 * @enum {string}
                 */
                quality: "exact" | "interpolated" | "first" | "last";
                /** @description Length of the time without known sums at this end (s). */
                gap: number;
                /** @description Age of the oldest of the numbers when their sums were stored (s). */
                age: number;
            };
        };
        /** Campaign result */
        CampaignResult: {
            /** @description Line of the file, from 1. */
            line: number;
            /** @description Id that the client chooses. */
            id: string;
            name?: string;
            /**
             * @description In a dry run, what an import would do.
             * @enum {string}
             */
            state: "new" | "changed" | "unchanged" | "refused";
            /** @description Number of videos after the import. */
            videos: number;
            added: number;
            removed: number;
            /** @description Number of posts of other platforms that are added or changed. */
            posts: number;
            /** @description Error code of a refused campaign. */
            code?: string;
            detail?: string;
        };
        /** Refused row */
        RefusedRow: {
            /** @description Line of the file, from 1. */
            line: number;
            /** @description At most 200 characters. */
            text: string;
            /** @description As in a preview, or: `DUPLICATE` (an earlier row has it), `OTHER_TYPE` (not what the type of the row states), `CHANNEL_NOT_FOUND` (YouTube has no such channel), `CHANNEL_WITHOUT_ID` (a channel to follow could not be looked up: its link needs the id). */
            reason: string;
        };
        /** Invalid cell */
        InvalidCell: {
            /** @description Line of the file, from 1. */
            line: number;
            field: string;
            text: string;
        };
        /** Import of campaigns */
        ImportOfCampaigns: {
            dryRun: boolean;
            campaigns: components["schemas"]["CampaignResult"][];
            /** @description Rows that are not imported. */
            refused: components["schemas"]["RefusedRow"][];
            /** @description Values without which their rows are imported. */
            invalid: components["schemas"]["InvalidCell"][];
            /** @description Headings whose columns are ignored. */
            unknownHeadings: string[];
        };
        /** Posts */
        Posts: {
            posts: components["schemas"]["Post"][];
        };
        /** New post */
        NewPost: {
            /** @description Link to the post, which is stored in a normalised form. */
            url: string;
            /**
             * @description Follows from the link. A request may omit it; another platform than that of the link is refused.
             * @enum {string}
             */
            platform?: "instagram" | "tiktok" | "twitch" | "x" | "facebook" | "linkedin";
            /** @description Name of the creator. By default the name in the link, if there is one. */
            creator?: string;
            title?: string;
            /** @description Day or time of publication. */
            published?: string;
        };
        /** New numbers of a post */
        NewNumbersOfAPost: {
            views?: number;
            likes?: number;
            comments?: number;
            shares?: number;
            saves?: number;
            /**
             * Format: date-time
             * @description Time of the numbers. Default: now. Numbers of the same time are replaced.
             */
            at?: string;
            note?: string;
        };
        /** Numbers of a post */
        NumbersOfAPost: {
            numbers: {
                /** Format: date-time */
                at: string;
                views?: number;
                likes?: number;
                comments?: number;
                shares?: number;
                saves?: number;
                note?: string;
            }[];
        };
        /** History of reported sums */
        HistoryOfReportedSums: {
            points: {
                /** Format: date-time */
                at: string;
                /** @description Views. */
                impressions?: number;
                /** @description Likes, comments and shares. */
                engagements?: number;
                saves?: number;
                /** @description Number of posts with numbers. */
                posts: number;
            }[];
        };
        /** Imported numbers */
        ImportedNumbers: {
            /** @description Number of accepted rows. */
            stored: number;
            /** @description Number of refused rows. */
            refused: number;
            rows: {
                /** @description Line of the row in the file. */
                line: number;
                /** @enum {string} */
                state: "new" | "replaced" | "refused";
                /** @description Id of the post of an accepted row. */
                post?: string;
                /** @enum {string} */
                reason?: "POST_NOT_FOUND" | "NO_POST" | "NO_NUMBERS" | "INVALID_VALUE" | "NUMBERS_IN_FUTURE" | "TOO_MANY_NUMBERS";
                /** @description Text that is the reason. */
                detail?: string;
            }[];
            /** @description Headings that are not known. Their columns were ignored. */
            unknownHeadings: string[];
        };
        /** History */
        History: {
            points: {
                /** Format: date-time */
                at: string;
                impressions: number;
                engagements: number;
                score: number;
                videos: number;
                /** @description Increase that is not growth: videos added to the collection, and counts that YouTube states for the first time, or again after more than two hours. Absent if there is none. */
                added?: {
                    impressions: number;
                    engagements: number;
                    score: number;
                    videos: number;
                };
                /** @description Decrease that is not growth: videos removed from the collection, and counts that are lower when YouTube states them again after more than two hours. Absent if there is none. */
                removed?: {
                    impressions: number;
                    engagements: number;
                    score: number;
                    videos: number;
                };
            }[];
        };
        /** Imported lines */
        ImportedLines: {
            /** @description Number of applied lines. */
            lines: number;
            /** @description Number of collections that were not replaced, because they are newer. */
            newer: number;
        };
        /** Upstream */
        Upstream: {
            /**
             * @description `paused`: YouTube refuses all calls, or the daily budget is used up. `failing`: calls fail for another reason. No call is made before `retryAt`. `unknown`: no call has succeeded or failed yet, since the start or since a change of a refused key.
             * @enum {string}
             */
            state: "ok" | "unknown" | "failing" | "paused";
            /** @description Google's machine-readable reason, such as `API_KEY_INVALID`; the code of a network error, such as `ECONNREFUSED`; or `dailyBudgetSpent` for the budget of stats. */
            reason?: string;
            detail?: string;
            /** @description Remedy for the operator, in one sentence. */
            remedy?: string;
            /** Format: date-time */
            since?: string;
            /**
             * Format: date-time
             * @description No call is made before this time.
             */
            retryAt?: string;
            /** @description Last four characters of the API key, or of the refused key if there is one. Absent for the stand-in, and on a node whose source is not that of the cluster. */
            key?: string;
            /** @description Origin of the numbers. */
            source: string;
            /** @description Quota units of this day, in Pacific Time. Without a limit, `limit` and `left` are `null`. */
            budget: {
                limit: number | null;
                used: number;
                left: number | null;
                /** @description Used units by kind of call: numbers of videos, channels, playlists that campaigns follow, and look-ups of what a person entered. */
                kinds: {
                    videos: number;
                    channels: number;
                    playlistItems: number;
                    lookups: number;
                };
            };
        };
        /** Node */
        Node: {
            /** @description True if this node polls YouTube. */
            polling: boolean;
            /** @description Origin of the cluster's numbers. Absent until a node has recorded it. */
            source?: string;
            /** @description Present if this node has another source than the cluster. Such a node never polls YouTube. */
            sourceMismatch?: {
                /** @description Source of this node. */
                node: string;
                /** @description Source of the cluster. */
                log: string;
            };
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
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getStats: {
        parameters: {
            query?: {
                /** @description Adds the numbers of each video. */
                by?: "video";
            };
            header?: never;
            path: {
                /** @description Id that the client chooses. */
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
                    "application/json": components["schemas"]["Statistics"];
                };
            };
        };
    };
    getCollection: {
        parameters: {
            query?: {
                /** @description `stats` adds the sums, `change` their growth in 24 hours, 7 and 30 days. `creators` adds the numbers of each creator. */
                include?: "stats" | "change" | "stats,change" | "creators" | "stats,creators" | "change,creators" | "stats,change,creators";
            };
            header?: {
                /** @description ETags, or `*`: 412 if the collection has another version. */
                "if-match"?: string;
                /** @description ETags: 304 if the collection has one of these versions. */
                "if-none-match"?: string;
            };
            path: {
                /** @description Id that the client chooses. */
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
                    "application/json": components["schemas"]["CollectionWithItsNumbersAndCreators"];
                };
            };
        };
    };
    putCollection: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags, or `*`: the collection changes only if it has one of these versions, otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the collection is created only if it does not exist, otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @description Id that the client chooses. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCollection"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Collection"];
                };
            };
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Collection"];
                };
            };
        };
    };
    deleteCollection: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags, or `*`: the collection changes only if it has one of these versions, otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the collection is created only if it does not exist, otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @description Id that the client chooses. */
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
    patchCollection: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags, or `*`: the collection changes only if it has one of these versions, otherwise 412. */
                "if-match"?: string;
                /** @description `*`: the collection is created only if it does not exist, otherwise 412. */
                "if-none-match"?: string;
            };
            path: {
                /** @description Id that the client chooses. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeOfACollection"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Collection"];
                };
            };
        };
    };
    addVideo: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags, or `*`: the collection changes only if it has one of these versions, otherwise 412. */
                "if-match"?: string;
            };
            path: {
                /** @description Id that the client chooses. */
                id: string;
                /** @description YouTube id of the video. */
                video: string;
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
                    "application/json": {
                        videos: string[];
                        /** @description Version, which differs after every change: the `ETag` without its quotation marks. */
                        version: string;
                    };
                };
            };
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        videos: string[];
                        /** @description Version, which differs after every change: the `ETag` without its quotation marks. */
                        version: string;
                    };
                };
            };
        };
    };
    removeVideo: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags, or `*`: the collection changes only if it has one of these versions, otherwise 412. */
                "if-match"?: string;
            };
            path: {
                /** @description Id that the client chooses. */
                id: string;
                /** @description YouTube id of the video. */
                video: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    changeCollections: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkChange"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkResults"];
                };
            };
        };
    };
    duplicateCollection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id that the client chooses. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CopyOfACollection"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Collection"];
                };
            };
        };
    };
    listSources: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id that the client chooses. */
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
                    "application/json": components["schemas"]["Sources"];
                };
            };
        };
    };
    listTrash: {
        parameters: {
            query?: {
                limit?: number;
                /** @description Cursor: `next` of the previous page. */
                after?: string;
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
                    "application/json": components["schemas"]["Trash"];
                };
            };
        };
    };
    restoreCollection: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags, or `*`: the collection changes only if it has one of these versions, otherwise 412. */
                "if-match"?: string;
            };
            path: {
                /** @description Id that the client chooses. */
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
                    "application/json": components["schemas"]["Collection"];
                };
            };
        };
    };
    deleteForGood: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags, or `*`: the collection changes only if it has one of these versions, otherwise 412. */
                "if-match"?: string;
            };
            path: {
                /** @description Id that the client chooses. */
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
    listCollections: {
        parameters: {
            query?: {
                limit?: number;
                /** @description Cursor: `next` of the previous page. */
                after?: string;
                /** @description Number of collections to skip, from the cursor `after` on if there is one. */
                offset?: number;
                /** @description `true`: only collections in the archive, `any`: these also. */
                archived?: "false" | "true" | "any";
                /** @description `stats` adds the sums, `change` their growth in 24 hours, 7 and 30 days. */
                include?: "stats" | "change" | "stats,change";
                /** @description Order; with `-` descending. `rate` is engagements divided by impressions; `24h`, `7d` and `30d` are the growth of impressions in that time. Collections without the value are last. */
                sort?: "id" | "-id" | "name" | "-name" | "impressions" | "-impressions" | "engagements" | "-engagements" | "score" | "-score" | "rate" | "-rate" | "asOf" | "-asOf" | "from" | "-from" | "cost" | "-cost" | "24h" | "-24h" | "7d" | "-7d" | "30d" | "-30d";
                /** @description Words that the id, the name or the tags contain; case-insensitive. */
                q?: string;
                /** @description Only collections with this tag. */
                tag?: string;
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
                    "application/json": components["schemas"]["Collections"];
                };
            };
        };
    };
    listCreators: {
        parameters: {
            query?: {
                limit?: number;
                /** @description Cursor: `next` of the previous page. */
                after?: string;
                /** @description Order; with `-` descending. Creators without the value are last. */
                sort?: "name" | "-name" | "subscribers" | "-subscribers" | "campaigns" | "-campaigns" | "videos" | "-videos" | "impressions" | "-impressions" | "engagements" | "-engagements" | "score" | "-score" | "rate" | "-rate" | "fee" | "-fee" | "perThousandViews" | "-perThousandViews" | "perEngagement" | "-perEngagement";
                /** @description Words that the id, the title or the handle contain; case-insensitive. */
                q?: string;
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
                    "application/json": components["schemas"]["Creators"];
                };
            };
        };
    };
    getCreator: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the YouTube channel; for a person without videos, the name in the fee. */
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
                    "application/json": components["schemas"]["CreatorWithItsCollectionsAndVideos"];
                };
            };
        };
    };
    listVideos: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id that the client chooses. */
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
                    "application/json": components["schemas"]["Videos"];
                };
            };
        };
    };
    exportCollection: {
        parameters: {
            query?: {
                format?: "json" | "csv";
            };
            header?: never;
            path: {
                /** @description Id that the client chooses. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. CSV has one line per video and post; JSON has the collection, its sums, its videos and posts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportedCollection"];
                    "text/csv": string;
                };
            };
        };
    };
    previewPaste: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PastedText"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preview"];
                };
            };
        };
    };
    previewPasteForCollection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id that the client chooses. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PastedText"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preview"];
                };
            };
        };
    };
    getResults: {
        parameters: {
            query?: {
                /** @description First day, or first moment. By default the first day of the campaign, or the time of its creation. */
                from?: string;
                /** @description Last day, or end. By default the last day of the campaign, or now. */
                to?: string;
                /** @description IANA time zone of the days, such as Europe/Berlin. */
                zone?: string;
            };
            header?: never;
            path: {
                /** @description Id that the client chooses. */
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
                    "application/json": components["schemas"]["Results"];
                };
            };
        };
    };
    exportCampaigns: {
        parameters: {
            query?: {
                format?: "csv" | "xlsx";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": string;
                };
            };
        };
    };
    importCampaigns: {
        parameters: {
            query?: {
                /** @description True: nothing is changed. */
                dryRun?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "text/csv": string;
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": string;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportOfCampaigns"];
                };
            };
        };
    };
    listPosts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id that the client chooses. */
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
                    "application/json": components["schemas"]["Posts"];
                };
            };
        };
    };
    addPost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id that the client chooses. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPost"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Post"];
                };
            };
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Post"];
                };
            };
        };
    };
    putPost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id that the client chooses. */
                id: string;
                /** @description Id of the post in the collection. */
                post: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPost"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Post"];
                };
            };
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Post"];
                };
            };
        };
    };
    deletePost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id that the client chooses. */
                id: string;
                /** @description Id of the post in the collection. */
                post: string;
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
    listNumbers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id that the client chooses. */
                id: string;
                /** @description Id of the post in the collection. */
                post: string;
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
                    "application/json": components["schemas"]["NumbersOfAPost"];
                };
            };
        };
    };
    reportNumbers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id that the client chooses. */
                id: string;
                /** @description Id of the post in the collection. */
                post: string;
            };
            cookie?: never;
        };
        /** @description At least one count. A count that is not known is omitted; it is not 0. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewNumbersOfAPost"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Post"];
                };
            };
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Post"];
                };
            };
        };
    };
    deleteNumbers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id that the client chooses. */
                id: string;
                /** @description Id of the post in the collection. */
                post: string;
                /** @description Time of the numbers. */
                at: string;
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
    getReportedHistory: {
        parameters: {
            query?: {
                /** @description Beginning of the history. */
                from?: string;
                /** @description No points after this time. */
                to?: string;
                /** @description Length of a step (s); the reply has at most one point per step. */
                step?: number;
            };
            header?: never;
            path: {
                /** @description Id that the client chooses. */
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
                    "application/json": components["schemas"]["HistoryOfReportedSums"];
                };
            };
        };
    };
    importNumbers: {
        parameters: {
            query?: {
                /** @description True: returns the results and stores nothing. */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                /** @description Id that the client chooses. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
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
                    "application/json": components["schemas"]["ImportedNumbers"];
                };
            };
        };
    };
    getHistory: {
        parameters: {
            query?: {
                /** @description No points before this time. */
                from?: string;
                /** @description No points after this time. */
                to?: string;
                /** @description Length of a step (s), or `day`: the reply has at most one point per step, the last one. */
                step?: number | "day";
                /** @description IANA time zone of the days of `step=day`, such as Europe/Berlin. */
                zone?: string;
            };
            header?: never;
            path: {
                /** @description Id that the client chooses. */
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
                    "application/json": components["schemas"]["History"];
                };
            };
        };
    };
    getVideoHistory: {
        parameters: {
            query?: {
                /** @description No points before this time. */
                from?: string;
                /** @description No points after this time. */
                to?: string;
                /** @description Length of a step (s), or `day`: the reply has at most one point per step, the last one. */
                step?: number | "day";
                /** @description IANA time zone of the days of `step=day`, such as Europe/Berlin. */
                zone?: string;
            };
            header?: never;
            path: {
                /** @description Id that the client chooses. */
                id: string;
                /** @description YouTube id of the video. */
                video: string;
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
                    "application/json": components["schemas"]["History"];
                };
            };
        };
    };
    exportAll: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All data of this node. */
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
    importLines: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
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
                    "application/json": components["schemas"]["ImportedLines"];
                };
            };
        };
    };
    getUpstream: {
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
                    "application/json": components["schemas"]["Upstream"];
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
}
