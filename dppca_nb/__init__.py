"""See what differential privacy does to principal components: private loadings, their charts, a live explorer."""

from dppca_nb import datasets
from dppca_nb.charts.circle import circle_chart
from dppca_nb.charts.compare import compare_chart
from dppca_nb.charts.contribution import contribution_chart
from dppca_nb.charts.correlation import correlation_chart
from dppca_nb.charts.loading import loading_chart
from dppca_nb.charts.matrix import matrix_chart
from dppca_nb.charts.score import score_chart
from dppca_nb.charts.scree import scree_chart
from dppca_nb.core.gini import GiniResult, gini_pca
from dppca_nb.core.gini_test import gini_test
from dppca_nb.core.kendall import KendallEstimate, spherical_kendall
from dppca_nb.core.ledger import BudgetError, Ledger
from dppca_nb.core.loading import dp_loading
from dppca_nb.core.pca import PCAResult, pca
from dppca_nb.core.privacy import Budget, Guarantee
from dppca_nb.core.release import LoadingRelease
from dppca_nb.handout import handout
from dppca_nb.read import read_report, read_table
from dppca_nb.table import DataError, Table, as_table
from dppca_nb.widgets.gini import GiniExplorer
from dppca_nb.widgets.loading import LoadingExplorer
from dppca_nb.widgets.pca import PCAExplorer

__all__ = [
    "Budget",
    "BudgetError",
    "DataError",
    "GiniExplorer",
    "GiniResult",
    "Guarantee",
    "KendallEstimate",
    "Ledger",
    "LoadingExplorer",
    "LoadingRelease",
    "PCAExplorer",
    "PCAResult",
    "Table",
    "as_table",
    "circle_chart",
    "compare_chart",
    "contribution_chart",
    "correlation_chart",
    "datasets",
    "dp_loading",
    "gini_pca",
    "gini_test",
    "handout",
    "loading_chart",
    "matrix_chart",
    "pca",
    "read_report",
    "read_table",
    "score_chart",
    "scree_chart",
    "spherical_kendall",
]
