-- The chains of a position; `chains.py` says what the two databases write differently, and what is asked for.
WITH RECURSIVE chain (depth, square, held, rank, changes, hands, state, seen, toggle) AS (
  {{seeds}}
  UNION ALL
  SELECT chain.depth + 1, destination.square, CAST(NULL AS text),
    {{rank}},
    {{changes}},
    {{hands}},
    {{state}},
    chain.seen || {{here}}, variant.toggle
  FROM chain CROSS JOIN {{given}} AS given
  JOIN piece ON piece.identifier = coalesce(chain.held, {{standing}})
    AND {{own}}(substr(piece.identifier, 1, 1)) = substr(piece.identifier, 1, 1)
  JOIN revision_piece ON revision_piece.piece_id = piece.id AND revision_piece.revision_id = :revision
  JOIN source ON source.piece_id = piece.id AND source.square {{same}} chain.square
  JOIN destination ON destination.piece_id = source.piece_id AND destination.source = source.ordinal
  JOIN variant ON variant.piece_id = destination.piece_id AND variant.source = destination.source
    AND variant.destination = destination.ordinal
  JOIN variant_origin ON {{of_variant}} AND variant_origin.chainable
  WHERE {{tests}}
)
SELECT depth, rank, CAST(changes AS text) AS changes, CAST(hands AS text) AS hands, CAST(state AS text) AS state, toggle
FROM (SELECT * FROM chain WHERE {{wanted}} LIMIT {{most}}) AS found
ORDER BY rank
