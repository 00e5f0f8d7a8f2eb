"""The functions that a question in SQL may call: those that compute something from what they are given, in bounds.

On Postgres these are the names of functions in pg_catalog; what SQL has its own words for has a function there, too
(AT TIME ZONE is `timezone`, a frame of a window is `in_range`). Types are listed as well: to write or read a value of
a type is to call its functions.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BOTH: Final = """
abs avg coalesce concat concat_ws count cume_dist dense_rank first_value floor ceil ceiling lag last_value lead length
lower ltrim max min mod nth_value ntile nullif octet_length percent_rank power pow rank replace round row_number rtrim
sign sqrt exp ln log degrees radians pi sin cos tan asin acos atan atan2 substr substring sum trim upper string_agg
sinh cosh tanh asinh acosh atanh log10 trunc
"""

SQLITE: Final = _words(
    f"""{_BOTH}
-> ->> char date datetime glob group_concat hex if ifnull iif instr json json_array json_array_length
json_error_position json_extract json_group_array json_group_object json_insert json_object json_patch json_pretty
json_quote json_remove json_replace json_set json_type json_valid julianday like likelihood likely log2 median
percentile percentile_cont percentile_disc quote random sqlite_version strftime time timediff total typeof
unicode unixepoch unlikely
"""
)

# Of SQLite: what looks harmless and is not, since a width of nine digits makes it work for as long, in one step that
# nothing interrupts; and what does the same without.
INSTEAD: Final = dict.fromkeys(("format", "printf"), "join texts with ||, and round numbers with round(number, digits)")

POSTGRES: Final = _words(
    f"""{_BOTH}
age any_value array_agg array_append array_length array_position array_remove array_to_string ascii bit_and bit_count
bit_or bool_and bool_or btrim cardinality cbrt char_length character_length chr corr date_part date_trunc div every
extract gcd generate_series greatest in_range initcap json_agg json_array_elements json_array_elements_text
json_array_length json_build_array json_build_object json_each json_each_text json_extract_path json_extract_path_text
json_object_agg json_object_keys json_typeof jsonb_agg jsonb_array_elements jsonb_array_elements_text
jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text jsonb_extract_path
jsonb_extract_path_text jsonb_object_agg jsonb_object_keys jsonb_typeof lcm least left like_escape md5 mode now
num_nonnulls num_nulls overlaps overlay percentile_cont percentile_disc pg_typeof position quote_ident quote_literal
quote_nullable random regexp_count regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array
regexp_split_to_table regexp_substr reverse right row_to_json scale similar_to_escape split_part starts_with stddev
stddev_pop stddev_samp string_to_array string_to_table strpos timezone to_char to_json to_jsonb to_number translate
unnest var_pop var_samp variance version
"""
)

# Those of a column, an answer or a step between them, and arrays of them. `regtype` is what pg_typeof returns.
POSTGRES_TYPES: Final = _words(
    """
bit bool bpchar bytea char date float4 float8 int2 int4 int8 interval json jsonb name numeric record regtype text time
timestamp timestamptz timetz unknown uuid varbit varchar
"""
)

DUCKDB: Final = _words(
    f"""{_BOTH}
any_value arg_max arg_min array_agg array_length ascii bit_and bit_count bit_or bit_xor bool_and bool_or cbrt
char_length character_length chr contains corr count_if count_star date_diff date_part date_trunc datediff datepart day
dayofweek dayofyear divide ends_with entropy epoch even factorial favg filter fsum gcd generate_series greatest
group_concat hour if ifnull instr isfinite isinf isnan json_array json_array_length json_extract json_extract_string
json_object json_type json_valid kurtosis lcm least left length like_escape list list_aggregate list_apply list_concat
list_contains list_count list_distinct list_element list_extract list_filter list_has list_max list_min list_position
list_reverse list_slice list_sort list_sum list_transform list_unique list_value mad max_by md5 median min_by minute
mode month multiply not_ilike_escape not_like_escape now ord percentile_cont percentile_disc position prefix product
quantile quantile_cont quantile_disc quarter random range regexp_extract regexp_extract_all regexp_full_match
regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table reverse right row second sem skewness
split_part starts_with stddev stddev_pop stddev_samp strftime string_split string_to_array struct_extract struct_pack
strpos strptime subtract suffix timezone to_json to_timestamp translate typeof unicode unnest uuid var_pop var_samp
variance version week year
"""
)

# What it writes between operands, or in front of one.
DUCKDB_OPERATORS: Final = _words(
    "+ - * / // % ^ ** || & | ~ << >> ! !~~ ~~ ~~* !~~* ~~~ ^@ @ <-> && @> <@ -> ->>"
    " like_escape ilike_escape not_like_escape not_ilike_escape"
)
