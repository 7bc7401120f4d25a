"""Messy files: each with the right values, a report of what was decided, or a question that names the option."""

from __future__ import annotations

import copy
import datetime
import gzip
import io
import json
import os
import pickle
import sys
import time
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dppca_nb import DataError, LoadingExplorer, as_table, read_report, read_table
from dppca_nb.read import AmbiguousError, FileError


@pytest.fixture
def write(tmp_path):
    def make(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def workbook(*sheets, **named):
    """Bytes of a workbook; each sheet is a list of rows."""
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in {**{f"Sheet{i}": rows for i, rows in enumerate(sheets, 1)}, **named}.items():
        page = book.create_sheet(name)
        for row in rows:
            page.append(row)
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def said(data):
    return str(read_report(data))


MARK = b"\xef\xbb\xbf"
HEIGHTS = '"Height",Weight\n170,60\n180,80\n160,55\n'

# --- the cases of the families ----------------------------------------------------------------------------------------

CASES = {
    "semicolons-and-decimal-commas": (
        "a;b;c\n1,5;2,5;0,1\n2,5;3,5;0,4\n0,5;9,0;0,2\n",
        {"a": [1.5, 2.5, 0.5], "b": [2.5, 3.5, 9.0], "c": [0.1, 0.4, 0.2]},
        "decimal comma (a: '1,5')",
    ),
    "semicolons-and-points": ("a;b\n1.5;2\n3;4\n", {"a": [1.5, 3.0], "b": [2, 4]}, "decimal point (a: '1.5')"),
    "tabs": ("a\tb\n1\t2\n3\t4\n", {"a": [1, 3], "b": [2, 4]}, r"delimiter '\t'"),
    "bars": ("a|b\n1|2\n3|4\n", {"a": [1, 3], "b": [2, 4]}, "delimiter '|'"),
    "announced-delimiter": ("sep=;\na;b\n1;2\n3;4\n", {"a": [1, 3], "b": [2, 4]}, "the line that announces"),
    "byte-order-mark": (MARK + HEIGHTS.encode(), {"Height": [170, 180, 160], "Weight": [60, 80, 55]}, "utf-8-sig"),
    "utf-16": (HEIGHTS.encode("utf-16"), {"Height": [170, 180, 160], "Weight": [60, 80, 55]}, "encoding utf-16 (its"),
    "utf-32": (HEIGHTS.encode("utf-32"), {"Height": [170, 180, 160], "Weight": [60, 80, 55]}, "encoding utf-32 (its"),
    "windows": ("Größe;é\n1;2\n3;4\n".encode("cp1252"), {"Größe": [1, 3], "é": [2, 4]}, "cp1252 (not UTF-8, and"),
    "windows-signs": (
        "µ;b\n“it’s” – 5 €;2\nx;4\n".encode("cp1252"),
        {"µ": ["“it’s” – 5 €", "x"], "b": [2, 4]},
        "cp1252",
    ),
    "spaces-in-names": ("a, b ,c\n1,2,3\n2,1,5\n", {"a": [1, 2], "b": [2, 1], "c": [3, 5]}, "names in line 1"),
    "units": ("h,w\ncm,kg\n180,80\n170,70\n", {"h": [180, 170], "w": [80, 70]}, "left out: units in line 2: cm, kg"),
    "commas-at-the-ends": (
        "a,b\n1,2,\n3,4,\n5,1,\n",
        {"a": [1, 3, 5], "b": [2, 4, 1]},
        "columns without name and cells: 3",
    ),
    "total": ("n,x\nA,1\nB,3\nTotal,4\n", {"n": ["A", "B", "Total"], "x": [1, 3, 4]}, "line 4 seems to sum up"),
    "no-names": (
        "10;20;30\n11;19;33\n12;25;31\n",
        {"x1": [10, 11, 12], "x2": [20, 19, 25], "x3": [30, 33, 31]},
        "no names: line 1 holds data",
    ),
    "iris-without-names": (
        "5.1,3.5,setosa\n4.9,3.0,setosa\n",
        {"x1": [5.1, 4.9], "x2": [3.5, 3.0], "x3": ["setosa"] * 2},
        "no names",
    ),
    "narrow-spaces": (
        "a;b\n1\u202f200;3\n2\u202f500;4\n900;7\n",
        {"a": [1200, 2500, 900], "b": [3, 4, 7]},
        r"converted: a: '\u202f' between thousands, such as '1\u202f200', taken off",
    ),
    "apostrophes": (
        "a;b\n1'200;3\n2'500;4\n900;7\n",
        {"a": [1200, 2500, 900], "b": [3, 4, 7]},
        'such as "1\'200", taken off',
    ),
    "thousands-decided-by-others": (
        "a;b\n1,234;3.25\n2,345;4\n",
        {"a": [1234, 2345], "b": [3.25, 4.0]},
        "decimal point (b: '3.25')",
    ),
    "commas-decided-by-others": (
        "a;b\n1,234;3,25\n2,345;4\n",
        {"a": [1.234, 2.345], "b": [3.25, 4.0]},
        "decimal comma",
    ),
    "points-decided-by-others": ("a;b\n1.234;3,25\n2.345;4\n", {"a": [1234, 2345], "b": [3.25, 4.0]}, "decimal comma"),
    "both-marks": ('a,b\n"1,234.5",1\n"2,345.25",2\n', {"a": [1234.5, 2345.25], "b": [1, 2]}, "decimal point"),
    "points-between-commas": ("a,b\n1.234,3\n2.345,4\n", {"a": [1.234, 2.345], "b": [3, 4]}, "commas separate cells"),
    "quoted-decimal-commas": ('a,b\n"1,5","2,5"\n"3,5","4,5"\n', {"a": [1.5, 3.5], "b": [2.5, 4.5]}, "decimal comma"),
    "missing": (
        "a,b,c\n1,NA,.\n-,2,?\n3,,5\n",
        {"a": [1, np.nan, 3], "b": [np.nan, 2, np.nan], "c": [np.nan, np.nan, 5]},
        "missing: a: '-' × 1; b: blank × 1, 'NA' × 1; c: '.' × 1, '?' × 1",
    ),
    "markers-in-text": ("country,x\nNA,1\nFR,2\n", {"country": ["NA", "FR"], "x": [1, 2]}, "text: country"),
    "leading-zeros": ("zip,x\n007,1\n012,2\n", {"zip": ["007", "012"], "x": [1, 2]}, "zip (codes with leading zeros"),
    "wells": (
        "well,x\n1E5,1\n2E3,2\n",
        {"well": ["1E5", "2E3"], "x": [1, 2]},
        "'1E5' may be a code or the number 100000",
    ),
    "exponents": ("a,x\n1e+05,1\n2.5e3,2\n", {"a": [1e5, 2500.0], "x": [1, 2]}, "names in line 1"),
    "long-numbers": ("k,x\n9007199254740993,1\n,2\n", {"k": ["9007199254740993", np.nan], "x": [1, 2]}, "float64 does"),
    "long-integers": ("k,x\n9007199254740993,1\n5,2\n", {"k": [9007199254740993, 5], "x": [1, 2]}, "names in line 1"),
    "dates": (
        "when,x\n2024-01-31,1\n2024-02-01,2\n",
        {"when": ["2024-01-31", "2024-02-01"], "x": [1, 2]},
        "dates or times",
    ),
    "dates-with-points": (
        "when;x\n31.01.2024;1\n01.02.2024;2\n",
        {"when": ["31.01.2024", "01.02.2024"], "x": [1, 2]},
        "dates",
    ),
    "percentages": (
        "p,x\n5%,1\n7.5 %,2\n",
        {"p": ["5%", "7.5 %"], "x": [1, 2]},
        "p (percentages, such as '5%'; for numbers: data",
    ),
    "money": ("p,x\n€5,1\n€7.20,2\n", {"p": ["€5", "€7.20"], "x": [1, 2]}, "p (amounts of money"),
    "one-odd-cell": (
        "a,x\n1,1\n12o,2\n3,3\n",
        {"a": ["1", "12o", "3"], "x": [1, 2, 3]},
        "1 of 3 cells no number: '12o' (line 3)",
    ),
    "no-numbers-of-pythons-own": (
        "a,b\n2,3\ninf,1_000\n3,4\n",
        {"a": ["2", "inf", "3"], "b": ["3", "1_000", "4"]},
        "'1_000' (line 3)",
    ),
    "spaces-around-numbers": ("a;b\n 3 ;1\n7; 2\n", {"a": [3, 7], "b": [1, 2]}, "names in line 1"),
    "true-and-false": ("a,x\nTRUE,1\nFALSE,2\n", {"a": [True, False], "x": [1, 2]}, "names in line 1"),
    "minus-signs": ("a;b\n\u22121,5;1\n+2,5;2\n", {"a": [-1.5, 2.5], "b": [1, 2]}, "decimal comma"),
    "title-and-note": (
        "Survey of 2024\n\nx;y\n1,5;2\n2,5;3\n\nSource: us\n",
        {"x": [1.5, 2.5], "y": [2, 3]},
        "left out: note in line 7: Source: us",
    ),
    "entries-above": (
        "Station;Paris\nYear;2024\nd;t;r\n1;2,5;3\n9;2,6;4\n",
        {"d": [1, 9], "t": [2.5, 2.6], "r": [3, 4]},
        "Year | 2024",
    ),
    "groups-above-names": (
        "Group A,,Group B,\nx,y,x,y\n1,2,3,4\n5,6,7,8\n",
        {"x": [1, 5], "y": [2, 6], "x (2)": [3, 7], "y (2)": [4, 8]},
        "repeated names told apart: x (2), y (2)",
    ),
    "repeated-and-blank-names": (
        "a,a,,b\n1,2,3,4\n5,6,7,8\n",
        {"a": [1, 5], "a (2)": [2, 6], "(unnamed 3)": [3, 7], "b": [4, 8]},
        "told apart: a (2)",
    ),
    "blank-rows": ("\n\na,b\n1,2\n\n,,\n3,4\n\n", {"a": [1, 3], "b": [2, 4]}, "blank rows: 5 (line 1, line 2, line 5"),
    "blank-columns": (",a,,b\n,1,,2\n,3,,4\n", {"a": [1, 3], "b": [2, 4]}, "columns without name and cells: 1, 3"),
    "column-without-values": (
        "a,b,c\n1,,2\n3,,4\n",
        {"a": [1, 3], "b": [np.nan] * 2, "c": [2, 4]},
        "b: no value in any row",
    ),
    "line-breaks-in-cells": ('x,t\n1,"a\nb;c"\n3,d\n', {"x": [1, 3], "t": ["a\nb;c", "d"]}, "text: t"),
    "delimiters-in-text": (
        'who,x\n"A; B; C",1\n"D; E; F",3\n',
        {"who": ["A; B; C", "D; E; F"], "x": [1, 3]},
        "delimiter ','",
    ),
    "commas-in-prose": (
        "n;note\nA;hello, you\nB;yes, no\n",
        {"n": ["A", "B"], "note": ["hello, you", "yes, no"]},
        "delimiter ';'",
    ),
    "much-prose": (
        "n;note\n" + "A;hello, you\n" * 40,
        {"n": ["A"] * 40, "note": ["hello, you"] * 40},
        "delimiter ';'",
    ),
    "one-column": ("a\n1\n2\n", {"a": [1, 2]}, "there is only one column"),
    "one-column-of-prose": ("note\nhello, you\nbye\n", {"note": ["hello, you", "bye"]}, "no delimiter"),
    "old-mac-lines": ("a,b\r1,2\r3,4\r", {"a": [1, 3], "b": [2, 4]}, "names in line 1"),
    "odd-names": (
        'Sepal.Length,mass [kg],t:Q,"5"" pipe",back\\slash,"blood\npressure",温度\n1,2,3,4,5,6,7\n2,1,4,3,6,5,8\n',
        {
            "Sepal.Length": [1, 2],
            "mass [kg]": [2, 1],
            "t:Q": [3, 4],
            '5" pipe': [4, 3],
            "back\\slash": [5, 6],
            "blood\npressure": [6, 5],
            "温度": [7, 8],
        },
        "names in line 1",
    ),
    "numbering-column": (
        "id,x\n1,5\n2,7\n3,1\n",
        {"id": [1, 2, 3], "x": [5, 7, 1]},
        "id seems to number the rows; index='id'",
    ),
}


CASES |= {
    "invisible-characters-in-names": (
        "\u200bheight,wei\u00adght,\u00ef\u00bb\u00bf\ufeffage\u200b\n1,2,3\n2,1,5\n",
        {"height": [1, 2], "weight": [2, 1], "age": [3, 5]},
        "invisible characters taken off names: height, weight, age",
    ),
    "joiners-within-a-word": (
        "می\u200cخواهم,b\n1,2\n2,1\n",
        {"می\u200cخواهم": [1, 2], "b": [2, 1]},
        "names in line 1",
    ),
    "more-commas-at-the-ends": (
        "a,b\n1,2,,\n3,4,,\n5,1,,\n",
        {"a": [1, 3, 5], "b": [2, 4, 1]},
        "columns without name and cells: 3, 4",
    ),
    "a-mean-of-each-group": (
        "n,x\nA,1\nTotal,1\nB,3\nmean:,3\nC,3\nTotal (2),4\nD,5\n",
        {"n": ["A", "Total", "B", "mean:", "C", "Total (2)", "D"], "x": [1, 1, 3, 3, 3, 4, 5]},
        "line 3, line 5, line 7 seem to sum up others; data.drop(data.index[[1, 3, 5]]) leaves them out",
    ),
    "numbering-column-elsewhere": (
        "x,k\n5,0\n7,1\n1,2\n",
        {"x": [5, 7, 1], "k": [0, 1, 2]},
        "k seems to number the rows; index='k'",
    ),
    "numbering-column-with-a-gap": (
        "x,k\n5,1\n7,\n1,3\n2,4\n",
        {"x": [5, 7, 1, 2], "k": [1, np.nan, 3, 4]},
        "k seems to number the rows",
    ),
    "identifiers": (
        "x,Customer ID\n5,1007\n7,1001\n1,1040\n",
        {"x": [5, 7, 1], "Customer ID": [1007, 1001, 1040]},
        "Customer ID seems to number the rows",
    ),
    "identifiers-with-a-gap": (
        "x,patient_id\n5,1007\n7,\n1,1040\n3,1012\n",
        {"x": [5, 7, 1, 3], "patient_id": [1007, np.nan, 1040, 1012]},
        "patient_id seems to number the rows",
    ),
    "identifiers-in-one-word": (
        "x,SubjectID\n5,1007\n7,1001\n1,1040\n",
        {"x": [5, 7, 1], "SubjectID": [1007, 1001, 1040]},
        "SubjectID seems to number the rows",
    ),
}


@pytest.mark.parametrize(("content", "expected", "report"), CASES.values(), ids=CASES)
def test_a_file_is_read_as_it_is_meant_and_the_report_says_how(write, content, expected, report):
    data = read_table(write(content))
    pd.testing.assert_frame_equal(data, pd.DataFrame(expected), check_column_type=False)
    assert report in said(data)


INDEXED = {
    "saved-row-numbers": (",a,b\n0,1,2\n1,3,4\n2,2,9\n", [0, 1, 2]),
    "saved-twice": ("Unnamed: 0,a,b\n0,1,2\n1,3,4\n2,2,9\n", [0, 1, 2]),
    "filtered-row-numbers": (",a,b\n0,1,2\n4,3,4\n7,2,9\n", [0, 4, 7]),
    "row-names": ('"","a","b"\n"x",1,2\n"y",3,4\n"z",2,9\n', ["x", "y", "z"]),
    "row-names-without-a-name": ('"a","b"\n"x",1,2\n"y",3,4\n"z",2,9\n', ["x", "y", "z"]),
}


@pytest.mark.parametrize(("content", "labels"), INDEXED.values(), ids=INDEXED)
def test_a_first_column_without_a_name_that_labels_rows_is_no_variable(write, content, labels):
    data = read_table(write(content))
    assert data.index.tolist() == labels
    assert data.to_numpy().tolist() == [[1, 2], [3, 4], [2, 9]]
    assert data.columns.tolist() == ["a", "b"]
    assert "row labels from column (unnamed 1)" in said(data) or "Unnamed: 0" in said(data)


def test_numbered_columns_below_a_corner_are_names(write):
    data = read_table(write(",0,1,2\n0,1,2,3\n1,4,5,6\n"))
    assert data.columns.tolist() == ["0", "1", "2"]


def test_row_names_without_a_name_may_stand_before_commas_at_the_ends(write):
    data = read_table(write("a,b\nx,1,2,\ny,3,4,\nz,5,1,\n"))
    assert data.index.tolist() == ["x", "y", "z"]
    assert data.to_dict("list") == {"a": [1, 3, 5], "b": [2, 4, 1]}


def test_measures_and_words_that_only_resemble_ids_and_totals_bring_no_hint(write):
    data = read_table(write("acid,grid,id,n\n5,17,7,Summer\n7,11,7,Totally\n1.5,40,8,Meaning\n"))
    assert read_report(data).hints == ()
    assert read_report(read_table(write("n,x\nmean,1\nsum,3\n"))).hints == ()


def test_the_remedy_for_rows_of_totals_leaves_out_these_rows_only(write):
    path = write("g,n,x\nA,a,1\nA,Total,1\nB,b,3\nB,Total,3\nC,c,9\n")
    (hint,) = read_report(data := read_table(path)).hints
    remedy = hint.partition("; ")[2].removesuffix(" leaves them out")
    assert eval(remedy, {"data": data})["x"].tolist() == [1, 3, 9]
    assert read_report(read_table(path, index="g")).hints == ("line 3, line 5 seem to sum up others",)


# --- questions --------------------------------------------------------------------------------------------------------

QUESTIONS = {
    "one-comma": (
        "a;b\n1,234;3\n2,345;4\n",
        r"'1,234' \(a, line 2\) can be 1234 .* or 1.234",
        {"decimal='.'": [1234, 2345], "decimal=','": [1.234, 2.345]},
    ),
    "one-point": (
        "a;b\n1.234;3\n2.345;4\n",
        r"'1.234' \(a, line 2\) can be 1.234 .* or 1234",
        {"decimal='.'": [1.234, 2.345], "decimal=','": [1234, 2345]},
    ),
    "both-marks": (
        "a;b\n1,5;3.25\n2,5;4\n",
        r"'3.25' \(b, line 2\) and '1,5' \(a, line 2\)|'1,5'.*'3.25'",
        {"decimal='.'": ["1,5", "2,5"], "decimal=','": [1.5, 2.5]},
    ),
    "commas-below-one-name": (
        "x\n1,5\n2,7\n",
        "can be one number with a decimal comma.*or '5' in a row named '1'",
        {"decimal=','": [1.5, 2.7], "delimiter=','": [5, 7]},
    ),
    "years": (
        "n,2001,2002\nA,1,2\nB,3,4\n",
        r"line 1 \(n, 2001, 2002\) can be the names",
        {"header=1": ["A", "B"], "header=False": ["n", "A", "B"]},
    ),
    "delimiters": (
        "a;b|c\nx;y|z\nu;v|w\n",
        r"a row can be \['a', 'b\|c'\] by ';', or \['a;b', 'c'\] by '\|'",
        {"delimiter=';'": ["x", "u"], "delimiter='|'": ["x;y", "u;v"]},
    ),
    "unnamed-measures": (
        ",b,c\n1.5,2,3\n1.7,4,5\n",
        "its cells, such as '1.5', can be row labels or a variable",
        {"index='(unnamed 1)'": [2, 4], "index=False": [1.5, 1.7]},
    ),
    "unnamed-and-out-of-order": (
        ",a,b\n3,1,2\n1,3,4\n2,2,9\n",
        "its cells, such as '3', can be row labels or a variable",
        {"index='(unnamed 1)'": [1, 3, 2], "index=False": [3, 1, 2]},
    ),
    "units-or-a-row": (
        "n,h\nAnn,tall\nBob,180\nCy,170\n",
        r"line 2 \(Ann, tall\) can be units, or a row",
        {"units=True": ["Bob", "Cy"], "units=False": ["Ann", "Bob", "Cy"]},
    ),
    "cyrillic": (
        "Привет;x\nмир;2\nдва;4\n".encode("cp1251"),
        "'Ïðèâåò' 'ìèð' in cp1252.*'Привет' 'мир' in cp1251",
        {"encoding='cp1251'": ["мир", "два"], "encoding='cp1252'": ["ìèð", "äâà"]},
    ),
    "dos": (
        "Größe;x\nspät;2\nfür;4\n".encode("cp850"),
        "its words are 'Größe' 'spät' in cp850",
        {"encoding='cp850'": ["spät", "für"]},
    ),
    "mac": (
        "Größe;x\nspät;2\nfür;4\n".encode("mac_roman"),
        "its words are 'Größe' 'spät' in mac_roman",
        {"encoding='mac_roman'": ["spät", "für"]},
    ),
}


@pytest.mark.parametrize(("content", "message", "answers"), QUESTIONS.values(), ids=QUESTIONS)
def test_where_two_readings_are_plausible_it_asks_and_each_answer_is_understood(write, content, message, answers):
    path = write(content)
    with pytest.raises(AmbiguousError, match=message) as asked:
        read_table(path)
    assert "\n" not in str(asked.value)
    offered = [f"{name}={value!r}" for name, value in asked.value.choices]
    for answer, first in answers.items():
        assert answer in offered
        assert answer in str(asked.value)
        assert read_table(path, **dict([asked.value.choices[offered.index(answer)]])).iloc[:, 0].tolist() == first


def test_a_question_is_a_data_error_and_survives_a_pickle(write):
    with pytest.raises(DataError) as asked:
        read_table(write("a;b\n1,234;3\n2,345;4\n"))
    again = pickle.loads(pickle.dumps(asked.value))
    assert (str(again), again.choices) == (str(asked.value), asked.value.choices)


# --- options ----------------------------------------------------------------------------------------------------------


def test_thousands_decides_the_decimal_mark(write):
    path = write("a;b\n1,234;3\n2,345;4\n")
    assert read_table(path, thousands=",")["a"].tolist() == [1234, 2345]
    assert read_table(path, thousands="")["a"].tolist() == [1.234, 2.345]
    assert read_table(path, decimal=".", thousands="")["a"].tolist() == ["1,234", "2,345"]


def test_a_space_between_thousands_stands_for_its_narrow_kinds(write):
    path = write("a;b\n1\u00a0234;1'000\n2 345;4\n")
    data = read_table(path, thousands=" ")
    assert data["a"].tolist() == [1234, 2345]
    assert data["b"].tolist() == ["1'000", "4"]


def test_more_texts_may_stand_for_missing_cells(write):
    path = write("a,b\n1,-99\nunknown,3\n")
    data = read_table(path, missing=["-99", "unknown"])
    assert data.isna().to_numpy().tolist() == [[False, True], [True, False]]
    assert "missing: a: 'unknown' × 1; b: '-99' × 1" in said(data)
    assert read_table(path, missing="unknown")["b"].tolist() == [-99, 3]


def test_names_may_be_in_any_line_and_what_is_above_is_left_out(write):
    data = read_table(write("1,2\n3,4\na,b\n5,6\n"), header=3)
    assert data.to_dict("list") == {"a": [5], "b": [6]}
    assert "title in line 1: 1 | 2" in said(data)


def test_any_column_can_be_the_row_labels(write):
    data = read_table(write("x,who\n1,A\n2,B\n"), index="who")
    assert data.index.tolist() == ["A", "B"]
    assert data.index.name == "who"
    assert data.columns.tolist() == ["x"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": ";"}, "decimal=';' is no decimal mark; give '.' or ','"),
        ({"thousands": "x"}, "thousands='x' is no mark"),
        ({"decimal": ",", "thousands": ","}, "both ','; they must differ"),
        ({"header": True}, "give the line of the names"),
        ({"header": "a"}, "give the line of the names"),
        ({"header": 9}, "no row with cells begins in line 9"),
        ({"header": 3}, "holds a single row of cells"),
        ({"index": "c"}, "has no column 'c' for index=; it has a, b"),
        ({"delimiter": ";;"}, "is no delimiter"),
        ({"encoding": "utf8000"}, "There is no encoding 'utf8000'"),
        ({"encoding": "utf-32"}, "is not text in utf-32"),
        ({"sheet": "x"}, "is text and has no sheets; leave out sheet='x'"),
    ],
)
def test_an_option_that_does_not_suit_the_file_is_refused(write, options, message):
    with pytest.raises(FileError, match=message):
        read_table(write("a,b\n1,2\n3,4\n"), **options)


def test_a_mark_of_utf_8_is_no_part_of_the_first_name_when_the_encoding_is_given(write):
    assert read_table(write(MARK + b"a,b\n1,2\n3,4\n"), encoding="utf-8").columns.tolist() == ["a", "b"]


HIDDEN_MARKS = {
    "latin-1-given": (
        MARK + "a,ö\n1,2\n3,4\n".encode(),
        "latin-1",
        "its byte order mark, in place of iso8859-1 as giv",
    ),
    "cp1252-given": (MARK + "a,ö\n1,2\n3,4\n".encode(), "cp1252", "utf-8-sig (its byte order mark, in place of cp1252"),
    "cp1252-behind-the-mark": (MARK + "a,ö\n1,2\n3,4\n".encode("cp1252"), "cp1252", "(as given; a byte order mark of"),
    "utf-16-le-given": (
        b"\xff\xfe" + "a,ö\n1,2\n3,4\n".encode("utf-16-le"),
        "utf-16-le",
        "utf-16 (its byte order mark, in place",
    ),
    "utf-16-be-in-place-of-le": (
        b"\xfe\xff" + "a,ö\n1,2\n3,4\n".encode("utf-16-be"),
        "utf-16-le",
        "in place of utf-16-le as given",
    ),
    "letters": ("\u00ef\u00bb\u00bfa,ö\n1,2\n3,4\n".encode(), None, "valid UTF-8; a byte order mark within the text"),
    "quoted-letters": ('"\u00ef\u00bb\u00bfa",ö\n1,2\n3,4\n'.encode(), None, "valid UTF-8; a byte order mark within"),
    "letters-before-a-quote": ('\u00ef\u00bb\u00bf"a",ö\n1,2\n3,4\n'.encode(), None, "mark within the text taken off"),
    "letters-of-a-mac": ("\u00d4\u00aa\u00f8a,ö\n1,2\n3,4\n".encode(), None, "a byte order mark within the text"),
    "twice": (MARK * 2 + "a,ö\n1,2\n3,4\n".encode(), None, "its byte order mark; a byte order mark within the text"),
    "in-quotes": (MARK + '"\ufeffa",ö\n1,2\n3,4\n'.encode(), None, "a byte order mark within the text taken off"),
}


@pytest.mark.parametrize(("content", "encoding", "report"), HIDDEN_MARKS.values(), ids=HIDDEN_MARKS)
def test_a_byte_order_mark_is_never_part_of_a_name(write, content, encoding, report):
    data = read_table(write(content), encoding=encoding)
    assert data.to_dict("list") == {"a": [1, 3], "ö": [2, 4]}
    assert report in said(data)


def test_letters_that_only_look_like_a_mark_of_utf_16_leave_the_given_encoding(write):
    data = read_table(write("яюa,b\n1,2\n3,4\n".encode("cp1251")), encoding="cp1251")
    assert data.columns.tolist() == ["яюa", "b"]


# --- refusals ---------------------------------------------------------------------------------------------------------

ZIPPED = io.BytesIO()
with zipfile.ZipFile(ZIPPED, "w") as _archive:
    _archive.writestr("a.csv", "a,b\n1,2\n")

REFUSED = {
    "empty": ("", "is empty"),
    "blank": ("\n \n\n", "is empty"),
    "only-delimiters": (",,\n,,\n", "is empty"),
    "only-names": ("a,b\n", "names without rows below"),
    "long-row": ("a,b\n1,2\n3,4,5,6\n7,8\n", "line 3 has 4 cells, most rows have 2"),
    "short-row": ("a,b,c\n1,2,3\n4,5\n7,8,9\n", "line 3 has 2 cells, most rows have 3"),
    "short-row-behind-a-line-break": ('a,b,c\n1,"x\ny",3\n4,5\n7,8,9\n', "line 4 has 2 cells"),
    "names-missing": ("a,b\n1,2,3,4\n5,6,7,8\n", "2 names, but most rows have 4 cells.* decimal comma must be quoted"),
    "repeated-row-names": ("a,b\nx,1,2\nx,3,4\n", "the first column repeats 'x'.*Complete the names in line 1"),
    "open-quotation": ('a,b\n1,2\n"3,4\n5,6\n', "near line 3 has a quotation mark that is not closed"),
    "long-open-quotation": ('a,b\n"' + "1,2\n" * 50_000, "near line 2 has a quotation mark"),
    "nul": (b"a,b\n1,\0\n", "line 2 holds a NUL character"),
    "utf-16-without-mark": ("a,b\n1,2\n".encode("utf-16-le"), 'encoding="utf-16-le"'),
    "utf-16-without-mark-the-other-way-round": ("a,b\n1,2\n".encode("utf-16-be"), 'encoding="utf-16-be" reads it'),
    "umlauts-in-utf-16-without-mark": ("ä,ö\n1,2\n".encode("utf-16-be"), 'not a text.*give encoding="utf-16-be"'),
    "picture": (b"\x89PNG\r\n\x1a\n\0\0\0", "is not a text file"),
    "cut-utf-16": (b"\xff\xfea", "is not a text file"),
    "cut-utf-8": (b"a,b\n" + b"1,2\n" * 400 + "é".encode()[:1], "it was cut short"),
    "web-page": ("<html><table><tr><td>1</td></tr></table>", "is a web page"),
    "spaces": ("a b c\n1 2 3\n4 5 6\n", r"3 columns set apart by spaces.*sep=r'\\s\+'"),
    "gz": (gzip.compress(b"a,b\n1,2\n"), "is compressed. Unpack it with gunzip"),
    "zip": (ZIPPED.getvalue(), "is an archive"),
    "old-excel": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99, "old Excel format, or protected by a password"),
    "broken-workbook": (workbook([[1, 2]])[:900], "is an archive|cannot be read"),
}


@pytest.mark.parametrize(("content", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_table_is_refused_in_one_line(write, content, message):
    with pytest.raises(FileError, match=message) as refused:
        read_table(write(content))
    assert "\n" not in str(refused.value)
    assert "table.csv" in str(refused.value)


def test_a_file_that_is_not_there_brings_similar_names(write, tmp_path):
    write("a,b\n1,2\n3,4\n", "heights.csv")
    with pytest.raises(FileError, match=r"Is it heights\.csv\?"):
        read_table(tmp_path / "hieghts.csv")
    with pytest.raises(FileError, match=r"Is it heights\.csv\?"):
        read_table(tmp_path / "heights")
    with pytest.raises(FileError, match=r"There is no folder .*nowhere either"):
        read_table(tmp_path / "nowhere" / "heights.csv")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("https://example.org/a.csv", "opens no network: download the file"),
        ("ftp://example.org/a.csv", "opens no network"),
        (".", "is a folder or a device"),
        ("", "The path is empty. Give the path of a file"),
        (" \u201c\u201d ", "The path is empty"),
        ("file://server/share/a.csv", "opens no network"),
        ("file:///no%20where/a.csv", r"There is no file \S*no where"),
        ("a\0b.csv", "cannot be read|no file"),
        (pd.DataFrame(), "takes the path of a file, not DataFrame"),
        (io.StringIO("a"), "takes the path of a file, not StringIO"),
    ],
)
def test_what_is_no_file_here_is_refused(path, message):
    with pytest.raises(FileError, match=message):
        read_table(path)


def test_a_pasted_path_may_be_quoted_and_have_spaces_and_umlauts(write):
    path = write(HEIGHTS, "täst 1.csv")
    curly = (f"\u201c{path}\u201d", f"\u2018{path}\u2019", f"\u201e{path}\u201c")
    for pasted in (f'"{path}"', f" '{path}' ", os.fsencode(path).decode(), *curly):
        assert read_table(pasted).shape == (3, 2)


def test_the_address_of_a_local_file_is_a_path(write):
    path = write(HEIGHTS, "täst 1 #2.csv")
    for pasted in (path.as_uri(), path.as_uri().replace("file://", "FILE://localhost"), f'"file://{path}"'):
        assert read_table(pasted).shape == (3, 2)


# --- workbooks --------------------------------------------------------------------------------------------------------

SURVEY = [["Survey 2024"], [], ["id", "height", "weight"], ["a", 180, 80], ["b", "170", 70], ["c", 165, 61]]


def test_a_workbook_with_a_title_and_a_number_stored_as_text(write):
    data = read_table(write(workbook(SURVEY), "survey.xlsx"))
    assert data.to_dict("list") == {"id": ["a", "b", "c"], "height": [180, 170, 165], "weight": [80, 70, 61]}
    assert data["height"].dtype == np.int64
    assert data.attrs["title"] == "Survey 2024"
    assert "numbers stored as text in cell B5 read as numbers" in said(data)
    assert "title in row 1: Survey 2024" in said(data)


def test_a_workbook_is_known_by_its_content_whatever_its_name(write):
    assert read_table(write(workbook(SURVEY), "survey.csv")).shape == (3, 3)


def test_several_sheets_with_tables_are_asked_about(write):
    path = write(workbook(one=SURVEY[2:], notes=[["a note"]], two=[["x", "y"], [1, 2.5], [3, 4]]), "book.xlsx")
    with pytest.raises(AmbiguousError, match="2 sheets hold tables: 'one' begins 'id', 'height'") as asked:
        read_table(path)
    assert asked.value.choices == (("sheet", "one"), ("sheet", "two"))
    data = read_table(path, sheet="two")
    assert data["y"].tolist() == [2.5, 4.0]
    assert "sheets not read: 'one', 'notes'" in said(data)
    with pytest.raises(FileError, match="has no sheet 'three'; its sheets are 'one', 'notes', 'two'"):
        read_table(path, sheet="three")
    with pytest.raises(FileError, match="single row"):
        read_table(path, sheet="notes")


def test_the_only_sheet_with_a_table_is_read(write):
    data = read_table(write(workbook(notes=[["a note"]], two=[["x", "y"], [1, 2], [3, 4]]), "book.xlsx"))
    assert data.to_dict("list") == {"x": [1, 3], "y": [2, 4]}
    assert "sheets not read: 'notes'" in said(data)


def test_errors_of_formulas_are_missing_and_formulas_without_a_result_are_reported(write):
    rows = [["x", "y", "z"], [1, "#DIV/0!", 2], [3, 4, "=A2+A3"], [5, 6, 7]]
    data = read_table(write(workbook(rows), "book.xlsx"))
    assert data.isna().to_numpy().tolist() == [[False, True, False], [False, False, True], [False] * 3]
    assert "missing: y: '#DIV/0!' × 1; z: blank × 1" in said(data)
    assert "formulas without a stored result, taken as missing: C3" in said(data)


def test_dates_and_truths_of_a_workbook_keep_their_type(write):
    rows = [["when", "ok", "x"], [datetime.datetime(2024, 1, 31), True, 1.5], [None, False, 2]]
    data = read_table(write(workbook(rows), "book.xlsx"))
    assert data["when"].iloc[0] == pd.Timestamp("2024-01-31")
    assert data["ok"].tolist() == [True, False]
    assert "when (dates and times)" in said(data)
    assert as_table(data[["ok", "x"]]).values.tolist() == [[1, 1.5], [0, 2]]


def test_a_table_away_from_the_corner_with_a_note_below(write):
    rows = [[], [None, "Title"], [None, "x", "y"], [None, 1, 2], [None, 3, 4], [], [None, "Source: us"]]
    data = read_table(write(workbook(rows), "book.xlsx"))
    assert data.to_dict("list") == {"x": [1, 3], "y": [2, 4]}
    assert data.attrs["title"] == "Title"
    assert "note in row 7: Source: us" in said(data)


def test_a_remark_in_the_corner_above_is_no_row_of_names(write):
    rows = [[None, None, "as of May"], ["x", "y", "z"], [1, 2, 3], [4, 6, 5]]
    data = read_table(write(workbook(rows), "book.xlsx"))
    assert data.to_dict("list") == {"x": [1, 4], "y": [2, 6], "z": [3, 5]}
    assert "title in row 1: as of May" in said(data)


def test_numbers_of_a_workbook_are_no_evidence_for_a_decimal_mark_but_texts_ask(write):
    rows = [["x", "y"], [1.5, 2], ["1,234", 3]]
    with pytest.raises(AmbiguousError, match=r"'1,234' \(x, cell A3\)"):
        read_table(write(workbook(rows), "book.xlsx"))


def test_without_openpyxl_the_remedy_is_said(write, monkeypatch):
    path = write(workbook(SURVEY), "survey.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(FileError, match=r'needs openpyxl: pip install "dppca_nb\[excel\]"'):
        read_table(path)


# --- title and report -------------------------------------------------------------------------------------------------


def test_the_title_is_that_in_the_file_or_its_name(write):
    assert read_table(write(CASES["title-and-note"][0])).attrs["title"] == "Survey of 2024"
    data = read_table(write(HEIGHTS, "heights 2024.csv"))
    assert data.attrs["title"] == "heights 2024"
    assert LoadingExplorer(data).title == "heights 2024"


def test_the_report_can_be_saved_with_the_frame_and_cannot_be_changed(write):
    data = read_table(write(CASES["units"][0]))
    report = read_report(data)
    assert report.units == (("h", "cm"), ("w", "kg"))
    with pytest.raises(AttributeError):
        report.rows = 5
    assert read_report(copy.deepcopy(data)) == report
    assert str(read_report(data.dropna())) == str(report)
    data.attrs = json.loads(json.dumps(data.attrs))
    assert str(read_report(data)) == str(report)
    with pytest.raises(FileError, match="does not come from read_table"):
        read_report(pd.DataFrame())


def test_each_remedy_in_a_report_works(write):
    data = read_table(write("p;m;x\n5,5%;1.200,50 €;1,5\n7%;3 €;2,5\n"))
    for name, expected in (("p", [5.5, 7.0]), ("m", [1200.5, 3.0])):
        (entry,) = (entry for entry in read_report(data).text if entry.startswith(f"{name} ("))
        remedy = entry.partition("for numbers: ")[2].removesuffix(")")
        assert eval(remedy, {"data": data}).tolist() == expected


# --- any table --------------------------------------------------------------------------------------------------------

NUMBERS = st.one_of(st.floats(-1e9, 1e9, allow_nan=False), st.just(np.nan), st.floats(-1, 1))
WORDS = st.text("abcäöüé ,;|\"'\n.", min_size=1, max_size=8).map(lambda text: f"w{text}z")


@st.composite
def frames(draw):
    n = draw(st.integers(3, 8))
    numbers = draw(st.lists(st.lists(NUMBERS, min_size=n, max_size=n), min_size=2, max_size=4))
    words = draw(st.lists(st.lists(WORDS, min_size=n, max_size=n), max_size=2))
    counts = draw(st.lists(st.lists(st.integers(-(2**60), 2**60), min_size=n, max_size=n), max_size=2))
    names = draw(st.lists(WORDS, min_size=6, max_size=8, unique=True))
    columns = [*map(np.array, numbers), *words, *counts]
    order = draw(st.permutations(range(len(columns))))
    return pd.DataFrame({names[k]: columns[j] for k, j in enumerate(order) if k < len(names)})


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    frames(),
    st.sampled_from([(",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", ","), (",", ",")]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"]),
    st.sampled_from([0, 1, 2]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_what_was_written_is_read_back_or_asked_about(tmp_path, frame, marks, encoding, quoting, ends, index):
    delimiter, decimal = marks
    assume(not frame.isna().all(axis=1).any() or index)
    assume(not frame.isna().all().any())
    path = tmp_path / "table.csv"
    frame.to_csv(
        path, sep=delimiter, decimal=decimal, encoding=encoding, quoting=quoting, lineterminator=ends, index=index
    )
    try:
        data = read_table(path)
    except AmbiguousError as question:  # a small table may be unclear: its answers are not
        answers = {
            "delimiter": delimiter,
            "decimal": decimal,
            "encoding": encoding,
            "index": False,
            "header": 1,
            "units": False,
        }
        asked = {name for name, _ in question.choices}
        assert asked <= answers.keys()
        data = read_table(path, delimiter=delimiter, decimal=decimal, encoding=encoding, header=1, units=False)
    pd.testing.assert_frame_equal(data, frame, check_exact=True, check_index_type=False)


# --- size -------------------------------------------------------------------------------------------------------------


def test_a_long_and_a_wide_file_are_read_exactly_in_seconds(tmp_path):
    rng = np.random.default_rng(3)
    for n, p in ((40_000, 20), (100, 2000)):
        frame = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"v{j}" for j in range(p)])
        frame.to_csv(tmp_path / "big.csv", sep=";", decimal=",", index=False)
        begin = time.process_time()
        data = read_table(tmp_path / "big.csv")
        assert time.process_time() - begin < 20, "a second or two on a machine that has nothing else to do"
        pd.testing.assert_frame_equal(data, frame, check_exact=True)
